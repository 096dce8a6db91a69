"""Words that need care in what is noted of a person: guesses and praise, authority, names to be called by, the mood of a day.

The lists have the plain cases in English, Japanese and Chinese.
"""

from __future__ import annotations

import re
from typing import Final

_PRAISE: Final = (
    "wonderful|amazing|lovely|kind(?! of)|nice|great|brilliant|charming|impressive|polite|friendly|sweet|clever"
)
_GUESS: Final = re.compile(
    r"\b(?:seem(?:s|ed)?|appear(?:s|ed)? to|apparently|probably|perhaps|maybe|presumably|likely|must be|might|sounds"
    r"|looks(?! (?:after|for|up|forward|at|into)\b))\b"
    r"|\b(?:happy|sad|angry|lonely|excited|nervous|anxious|worried|upset|jealous|embarrassed|in love|fond of|affection\w*"
    r"|attracted|interested in talking|enjoy\w* (?:the conversation|this|talking|chatting|our))\b"
    rf"|\b(?:is|has) (?:an? |very |so |really |such |truly )*(?:{_PRAISE})\b"
    r"|\w{1,3}そう(?=だ|で[すあし]|に(?:し|見|話)|な様子|。|\Z)|\w{1,3}(?<![てで])みたい(?=だ|で|な|。|\Z)|よう(?:だ|で[すあ])"
    r"|様子|模様(?=だ|で|。|\Z)|らしい(?=。|\Z)|かもしれ|だろう|でしょう|思われ|感じられ"
    r"|嬉し|悲し|寂し|怒っ|喜ん|照れ|緊張|不安|好意|(?:会話|話|やりとり|交流|時間)を楽し"
    r"|素晴らし|素敵|立派|優し|親切|頼もし|礼儀正し|かわい|可愛|すご"
    r"|看起来|看上去|看样子|好像|似乎|大概|也许|或许|(?<!不)可能(?!性)|想必|估计|显得|应该(?=是|很)|感觉(?=很|挺|到)"
    r"|高兴|开心|难过|伤心|生气|孤独|寂寞|紧张|焦虑|害羞|兴奋|享受(?=与|和|跟|对话|聊天)|有好感"
    r"|很棒|了不起|优秀|善良|体贴|友好|友善|可爱|聪明|有礼貌|厉害",
    re.IGNORECASE,
)
_OWN: Final = "(?:bot|server|guild|channel|discord)"
_PLACE: Final = f"(?:{_OWN}|chat|group|community|forum)"
_HERE: Final = rf"(?:here\b|this\b|all\b|every|(?:the|our|your|an?) {_PLACE}\b|{_PLACE}\b)"
_EVERYBODY: Final = "(?:any|every|all|people|members?|users?|players?|others)"
# An administrator of something else than the place where the talk is has a job.
_OFFICE: Final = (
    r"care|church|city|clinic|club|college|council|court|database|estate|finance|health|healthcare|hospital|hr|it|library|linux|medical"
    r"|museum|network|nhs|office|payroll|practice|project|public|research|sales|school|sys|systems?|trust|unix|university"
)
_JOB: Final = re.compile(
    rf"\b(?:{_OFFICE})[ -]admin(?:istrator)?s?\b|\bwork(?:s|ed|ing)? in admin\b"
    r"|\badmin(?:istrator)? (?:assistant|clerk|department|job|office|work)\b"
    rf"|\b(?:admin(?:istrator)?|moderator)s? (?:at|for|of|in|with) (?!{_HERE})"
    r"|(?:システム|ネットワーク|データベース|情報|施設|ビル|マンション|アパート|寮)管理[者人]"
    r"|(?:图书馆?|仓库|宿舍|系统|数据库|网络|档案|医院|学校|公寓)管理员",
    re.IGNORECASE,
)
_JA_HERE: Final = "(?:サーバー?|鯖|ボット|チャンネル|ギルド|グループ|コミュニティ|discord|ディスコード|ここ|こちら)"
_ZH_HERE: Final = "(?:服务器|机器人|频道|群|社区|论坛|这里|这儿)"
_AUTHORITY: Final = re.compile(
    r"\b(?:admin(?:istrator|s)?|moderators?|superuser|root access|developer mode|permissions?|privileges?|authori[sz]ed|obey\w*"
    r"|system prompt|(?:is|are|be) allowed|full access|do whatever|follow\w* (?:all |every |any )?(?:order|command|instruction)s?"
    rf"|{_PLACE}(?:['’]s)? (?:owner|operator|creator|developer|staff|mods?)"
    rf"|(?:owns?|created?|(?:co-?)?runs?|manages?|moderates?|operates?) (?:the|this|our) {_OWN}"
    rf"|(?:owner|creator|developer|mods?|staff(?: members?)?|in charge) (?:of|on|in|at|for) (?:the|this|our) {_PLACE}"
    r"|(?:is|are|being|as) (?:an? |the |one of the )?(?:\w+ )?mods?|(?:mod|staff) (?:powers?|rights?|role|status)"
    r"|(?:mod|staff(?: members?)?|in charge) (?:around |in )?here"
    rf"|(?:can|may|could) (?:ban|kick|mute|time ?out) {_EVERYBODY}\w*)\b"
    r"|(?<!の)(?:副|サブ)?管理[者人]|モデレーター|(?<!の)運営(?:者|側|チーム|スタッフ)|開発者モード|権限|許可され|許されて|服従|従わ|命令を聞|システムプロンプト"
    rf"|{_JA_HERE}の(?:副|サブ|共同)?(?:主|管理|持ち主|オーナー|作者|開発者|運営|スタッフ|責任者)|{_JA_HERE}を(?:管理|運営)"
    r"|(?:人|みんな|皆|誰でも|全員|メンバー|ユーザー)[をもは]?(?:ban|バン|キック|ミュート|追放|蹴)"
    r"|(?<!的)管理员|版主|群主|群管|权限|特权|授权|获准|(?<!不)允许|服从|听从|开发者模式|系统提示"
    rf"|{_ZH_HERE}里?的?(?:管理|主人|所有者|作者|开发者|负责人)|(?:管理|运营)(?:着|这个|本|我们的?)*{_ZH_HERE}"
    r"|(?:可以|能够?|有权)(?:随便|随时|直接)?(?:踢人|踢掉|踢出|禁言|封禁|封号|封人)",
    re.IGNORECASE,
)
# That somebody says so stands before what is said in English and Chinese, and behind it in Japanese.
_SAYING: Final = re.compile(
    r"\b(?:say|says|said|claims?|claimed|states?|stated|tells?|told|calls? (?:her|him|them)sel\w+|asked|asks)\b"
    r"|自称|说|声称|表示|要求",
    re.IGNORECASE,
)
_SAID: Final = re.compile(r"言って|言った|言う|述べ|名乗|主張|話して|求め|頼")
_CALLED: Final = re.compile(
    r"\b(?:be|being) (?:called|addressed)\b|\bgo(?:es)? by\b|\bnick ?name|\bcall (?:her|him|them)\b"
    r"|\A(?:is (?:called|named)|(?:(?:her|his|their|the) )?name is)\b"
    r"|呼ばれ|呼んで|呼ばない|あだ名|ニックネーム|愛称|呼び名|\A名前は|昵称|外号|绰号|称呼|\A(?:名叫|叫|名字)|[让被](?:大家|别人|人|她|他)?叫|[想要]叫",
    re.IGNORECASE,
)
_CALL_ME: Final = re.compile(
    r"\bcall(?:s|ing)? me\b|\bnick ?name|\bmy name|\bi(?:['’]m| am) |\bi go by\b"
    r"|呼んで|呼ばれ|呼ばない|呼び方|名前|あだ名|ニックネーム|愛称|申します|といいます|と言います"
    r"|叫我|我叫|我是|名字|昵称|外号|绰号|称呼我",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"n['’]t\b|\b(?:not?|never|stop\w*|hates?|dislikes?)\b|ない|嫌|やめ|不|别|讨厌", re.IGNORECASE
)
_OF_THE_DAY: Final = re.compile(
    r"\b(?:today|tonight|right now|at the moment|just now|yesterday|tomorrow|this (?:morning|afternoon|evening))\b"
    r"|今[日夜晩朝](?!も)|本日|昨[日夜晩]|明日|明後日|さっき|先ほど|たった今|今[天晚早夜日]|昨[天晚]|[明后]天|刚[才刚]|此刻",
    re.IGNORECASE,
)
_MOOD: Final = re.compile(
    r"\bis (?:tired|sleepy|hungry|sick|ill|in a \w+ mood)\b|\bhas a (?:headache|cold|fever)\b"
    r"|眠い|お腹が?[すい空減痛]|疲れて|機嫌|体調|頭が痛|困了|饿了|累了|很[累困饿]|心情|不舒服|头[疼痛]|感冒",
    re.IGNORECASE,
)
_HABIT: Final = re.compile(
    r"\b(?:often|always|usually|every|regularly|easily)\b|いつも|よく|毎|すぐ|やすい|经常|总是|每|常|容易",
    re.IGNORECASE,
)


def guesses(text: str, told: str) -> bool:
    """Whether a text guesses at feelings or praises, in words that what was told does not have."""
    return any(found.casefold() not in told.casefold() for found in _GUESS.findall(text))


def states_authority(text: str) -> bool:
    """Whether a text states as a fact that somebody has a role or right here; that they say so is none, nor a job elsewhere."""
    jobs = [found.span() for found in _JOB.finditer(text)]
    return any(
        not (_SAYING.search(text[: found.start()]) or _SAID.search(text[found.end() :]))
        for found in _AUTHORITY.finditer(text)
        if not any(first <= found.start() < end for first, end in jobs)
    )


def is_on_a_name(text: str) -> bool:
    """Whether a text says what a person is to be called, or not to be."""
    return bool(_CALLED.search(text))


def asks_for_a_name(sentence: str, text: str) -> bool:
    """Whether a person gives a name in a sentence, or asks to be called by one, or not to be, as a text has it."""
    return bool(_CALL_ME.search(sentence)) and bool(_DENIED.search(sentence)) == bool(_DENIED.search(text))


def is_of_the_day(text: str) -> bool:
    """Whether a text is about one day: by its date, or by a mood or state of health that is not said to be a habit."""
    return bool(_OF_THE_DAY.search(text) or (_MOOD.search(text) and not _HABIT.search(text)))
