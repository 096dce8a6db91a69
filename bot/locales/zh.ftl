# 错误信息说明发生了什么，以及该怎么办。

error-unexpected = 我这边出了点意外。请再试一次；如果还是这样，请把这个编号告诉机器人的管理者：`{ $reference }`

model-unavailable = 现在连不上语言模型。你的消息已经保存好了，请稍后再试。
model-busy = 已有 { $waiting } 条回复在排队，暂时排不下了。你的消息已经保存好了，请过一分钟再试。
model-timeout = 等了 { $seconds } 秒，模型还没有答完。你的消息已经保存好了，请再试一次。
model-window = 这个故事已经超出了模型的上下文窗口。你的消息已经保存好了。请让机器人的管理者换一个更大的上下文窗口，然后再试。
model-key = 模型服务器不接受我的密钥。你的消息已经保存好了。请让机器人的管理者检查 `LLM_API_KEY`。
model-missing = 模型服务器上没有我要用的模型。你的消息已经保存好了。请让机器人的管理者检查 `LLM_MODEL`。
model-filtered = 模型的提供方拦下了这次回答。你的消息已经保存好了。请再试一次，或者先改一改你的消息。
model-empty = 模型什么也没有回答。你的消息已经保存好了，请再试一次。
model-gave-way = 模型正忙着写回复，稍后会再试。
delivery-refused = Discord 没有接受这条回复，所以它不算在故事里。请确认我可以在这里发言，然后再试一次。

character-unknown = 这里没有叫“{ $name }”的角色。用 `{ COMMAND("character list") }` 看看都有谁。
character-name-taken = 这里已经有叫“{ $name }”的角色了。请换一个名字。
character-name-of-player = 和这个角色一起玩的人里，已经有人叫“{ $name }”了。请换一个名字。
character-name-empty = 这个名字里没有可以显示的字。请换一个名字。
character-not-yours = 只有创建{ $name }的人或管理员才能这样做。
character-in-use = { $name }正在一个故事里。如果可以停下故事，请再用一次 `{ COMMAND("character delete") }`。
character-adult = { $name }是成人角色，只能在有年龄限制的频道里扮演。管理员可以在频道设置里加上年龄限制。
character-too-long = { $name }的角色卡约有 { $tokens } 个 token，在模型 { $window } 个 token 的上下文窗口里留不下写故事的地方。请用 `{ COMMAND("character edit") }` 缩短。
character-no-such-greeting = { $name }没有这种开场白。请从列表里选择。
picture-unreadable = 这张图片我读不了。请用 PNG、JPEG、GIF 或 WebP 文件。
picture-too-large = 这张图片太大了。请用不超过 8 MB、2500 万像素的图片。

session-none = 这个频道里还没有故事。用 `{ COMMAND("session start") }` 新开一个吧。
session-already-running = 这个频道里已经有故事在进行了。请先用 `{ COMMAND("session stop") }` 停下来。
session-unknown = 这个频道里没有那个故事。请从 `{ COMMAND("session resume") }` 给出的列表中选择。
session-character-gone = { $name }已被删除，这个故事无法继续，但仍然可以阅读。
session-permissions = 我还不能在这里讲故事。请在这个频道给我这些权限：
    { $missing }

memory-unknown = 这个故事里没有记忆 #{ NUMBER($number, useGrouping: 0) }。用 `{ COMMAND("memory show") }` 可以看到全部。
moderators-only = 只有管理员（有“管理消息”权限，或有本服务器指定的身份组）才能这样做。请找一位管理员帮忙。
correction-changes-nothing = 记忆 #{ NUMBER($number, useGrouping: 0) } 已经是这样了，没有要改的。
correction-not-a-fact = 记忆 #{ NUMBER($number, useGrouping: 0) } 不是作为事实记下的，所以不能改成“只是说过”。可以改写它，或者把它撤下。
correction-needs-text = 请写下记忆 #{ NUMBER($number, useGrouping: 0) } 的新内容。
correction-quote-is-verbatim = 记忆 #{ NUMBER($number, useGrouping: 0) } 是一字不差的引文。可以撤下，但不能改写。
correction-nothing-to-restore = 记忆 #{ NUMBER($number, useGrouping: 0) } 从没被更正过，没有可以撤销的。
correction-conflict = 记忆 #{ NUMBER($number, useGrouping: 0) } 刚刚被改动了。请用 `{ COMMAND("memory history") }` 再看一眼，然后决定。
undo-too-late = 记忆 #{ NUMBER($number, useGrouping: 0) } 后来又被更正过，这个按钮已经不能撤销了。现在的样子可以用 `{ COMMAND("memory history") }` 查看。
reveal-nothing = 记忆 #{ NUMBER($number, useGrouping: 0) } 没有隐藏的内容。
memory-not-shown = 记忆 #{ NUMBER($number, useGrouping: 0) } 不在这些页里：它属于别的种类，或者没有在使用。它的去向可以用 `{ COMMAND("memory history") }` 查看。
flag-guild-only = 私信里没有管理员：在这里用 `{ COMMAND("memory correct") }` 就能自己改。
flag-not-in-use = 记忆 #{ NUMBER($number, useGrouping: 0) } 现在没有在使用，不需要反馈。
flag-limit = 你在这一小时里已经反馈了 { $most } 次，不能再多了。请过一会儿再试。
flag-unknown = 这条反馈已经不在了。
flag-decided = { $by } 先处理了：这条反馈已经有结果。
flag-settled = 这条反馈已经有结果。
settings-guild-only = 私信没有设置：在这里一切由你自己决定。
settings-manage-server = 只有有“管理服务器”权限的人才能更改。请找他们帮忙。
settings-role-everyone = 这个身份组里是所有人。请选一个只有管理员才有的身份组。
settings-channel-closed = 我不能在 { $channel } 里发言。请允许我在那里查看频道、发送消息和嵌入链接，然后再试一次。
settings-time-zone-unknown = 没有叫“{ $name }”的时区。请从输入时出现的列表里选一个，例如 Asia/Shanghai。

# 整个频道都会看到的话

hint-webhooks = 给管理员的小提示：如果允许我在这个频道“**管理 Webhook**”，并且留出一个 Webhook 的位置，角色就能用自己的名字和头像说话。
notice-interrupted = 我回答到一半被打断了。你写的内容一点都没有丢。
button-retry = 再试一次

# /character

character-list-title = 角色
character-list-empty = 还没有角色。用 `{ COMMAND("character create") }` 来添第一个吧。
character-created = { $name }准备好了。用 `{ COMMAND("session start") }` 就可以开讲了。
character-created-without-picture = { $name }准备好了，但 Discord 这次没有接受图片，所以没有头像。可以用 `{ COMMAND("character edit") }` 补上。
character-deleted = { $name }离开了。有关的故事仍然可以阅读。
form-character-title = 新角色
form-character-name = 名字
form-character-name-hint = 在故事里怎么称呼
form-character-description = 描述
form-character-description-hint = 是什么样的人，怎么说话，想要什么
form-character-first-message = 开场白
form-character-first-message-hint = 可以不填：新故事开始时说的话
character-holds = { $greetings ->
    [0] 没有开场白
   *[other] { $greetings } 种开场白
}，{ $entries ->
    [0] 没有世界书
   *[other] 世界书 { $entries } 条
}。
character-is-adult = 只能在有年龄限制的频道里扮演。
character-assets-left-out = 卡里还带有 { $count } 个图片或其他文件，这里只保留主图。
character-picture-left-out = 这次没能保存图片。可以用 `{ COMMAND("character edit") }` 补上。
character-creator-notes = 作者的话
character-greeting = 另一种开场白（{ $number }）
character-greeting-none = 不要开场白，由玩家先开口
character-stories = 现在有 { $count } 个故事在进行。
character-delete-sure = { $name }现在正在 { $stories } 个故事里。删除后这些故事会停下来，但仍然可以阅读。确定要删除吗？
character-delete-button = 停下故事并删除
character-edited = { $name }已修改。正在进行的故事从下一条回复起生效。
character-edited-without-picture = Discord 这次没有接受图片，所以保留原来的图片。
character-edited-left-out = 太长而放不进表单、保持原样的内容：{ $fields }。想修改的话，请用 `{ COMMAND("character export") }` 取得文件，改好后重新导入。
form-character-edit-title = 修改角色
form-character-personality = 性格
form-character-scenario = 场景
form-character-nickname = 昵称
form-character-system-prompt = 系统提示词
form-character-post-history-instructions = 历史之后的指示
form-character-mes-example = 对话示例
form-character-creator-notes = 作者备注（不会发给模型）

# /session

session-started = 和{ $name }的故事开始了。在这个频道里写，{ $name }就会回答。写在 `((双括号))` 里的话不算在故事里。
session-permissions-better = 如果还有这些权限，会更好：
    { $missing }
session-stopped = 和**{ $name }**的故事先停在这里。什么都不会忘记，想接着讲就用 `{ COMMAND("session resume") }`。
session-resumed = 和**{ $name }**的故事继续了。写下去，就会有回答。
story-choice = 故事 { NUMBER($number, useGrouping: 0) } · { $name } · { $day }
permission-view = 查看频道
permission-send = 发送消息
permission-threads = 在子区内发送消息
permission-webhooks = 管理 Webhook（角色可以用自己的名字和头像说话）
permission-history = 阅读消息历史记录（重启之后不会重复发送同一条回复）
permission-embeds = 嵌入链接（报告和链接可以正常显示）
info-running = 故事 { NUMBER($number, useGrouping: 0) } 正在进行。
info-stopped = 故事 { NUMBER($number, useGrouping: 0) } 已暂停。
info-turns = 到现在共 { $turns } 条发言，其中最新的 { $raw } 条一字不差地记着。
info-memories = 正在使用 { $memories } 条记忆，{ $chapters } 个章节。
info-budget = { $trigger } 个 token 中已用 { $used } 个。放不下之前，较早的发言会整理成章节。
info-folds-waiting = 有 { $folds } 次整理即将进行。
info-folds-failed = ⚠ 有 { $folds } 次整理最终没有成功。什么都没有丢，原来的发言都在。请告诉机器人的管理者。
info-forced-cuts = ⚠ 有 { $cuts } 次，还没整理成章节的发言不得不离开了模型的视野。发言本身都在。
info-model = 模型：{ $model }

# /memory

memory-title = 和{ $name }的故事里记得的事
memory-legend = • 事件  ✔ 事实  💬 说过的话  🎭 表面  ❓ 未了  ❝ 引文  ✎ 已更正  🔒 心事
memory-synopsis = 很久以前
memory-chapter = 第 { NUMBER($ordinal, useGrouping: 0) } 章（发言 { NUMBER($first, useGrouping: 0) }–{ NUMBER($last, useGrouping: 0) }）
memory-loose-ends = 还没了结的事
memory-quotes = 留下的话
memory-raw = { $turns ->
    [0] 到现在为止的事都在上面的记忆里。
   *[other] 最新的 { $turns } 条发言还没有整理成章节，一字不差地记着。
}
memory-empty = { $turns ->
    [0] 还什么都没有发生。
   *[other] 还没有记忆：到现在的 { $turns } 条发言都一字不差地记着。
}
memory-restates = （重复了已更正的 #{ NUMBER($number, useGrouping: 0) }）
memory-private = 角色藏在心里的事
memory-claim = { $speaker }说：{ $text }
memory-claim-to = { $speaker }对{ $addressee }说：{ $text }
memory-quote = { $speaker }：{ $text }
history-title = 记忆 #{ NUMBER($number, useGrouping: 0) }
history-versions = 各个版本
history-evidence = 依据的发言
history-condenses = 由 { $numbers } 浓缩而成。
history-thought = （没有说出口的心思）
history-gone = （已经不在了）
history-turn = 发言 { NUMBER($seq, useGrouping: 0) }
search-title = 搜索
search-memories = 记忆
search-turns = 发言
search-nothing = 这个故事里没有找到这些词。
by-fold = 整理成章节时记下
by-major-fold = 浓缩旧章节时记下
by-audit = 复查章节时更正
by-edit = 消息被编辑之后
by-deletion = 消息被删除之后
status-condensed = 已并入浓缩的记忆
status-resolved = 已了结
status-retracted = 已撤下
status-stale = 依据的消息有改动，暂不使用
status-replaced = 所在章节重写，已被替换
form-correction-title = 更正记忆 #{ NUMBER($number, useGrouping: 0) }
form-correction-text = 新内容
form-correction-reason = 理由（会留在记录里）
correction-done = 记忆 #{ NUMBER($number, useGrouping: 0) } 已更正
correction-done-out = 记忆 #{ NUMBER($number, useGrouping: 0) } 已从故事中撤下
correction-actual = （真实的一面也改写了。）
form-correction-actual = 真实的情况
form-correction-actual-hint = 玩家看不到。留空则保持不变。
button-undo = 撤销
button-reveal = 查看隐藏内容
button-claim = 只是说过
button-edit = 改写
button-retract = 撤下
button-dismiss = 不处理
did-claim = { $by } 改成了“只是说过”。
did-edit = { $by } 改写了它。
did-retract = { $by } 把它撤下了。
did-restore = { $by } 撤销了上一次更正。
did-dismiss = { $by } 决定保持原样。
reveal-actual = 其实：{ $text }
report-title = 记忆 #{ NUMBER($number, useGrouping: 0) } 有误？
report-by = { $by } 反馈：
report-by-audit = 复查章节时对它有疑问，但凭依据还不能断定。
flag-sent = 谢谢。管理员现在可以看到你对记忆 #{ NUMBER($number, useGrouping: 0) } 的反馈了。
flag-kept = 谢谢。你对记忆 #{ NUMBER($number, useGrouping: 0) } 的反馈已经记下。管理员还没有设置我能发言的反馈频道，请告诉他们一声：用 `{ COMMAND("memory flags") }` 就能看到。
flags-open = { $count ->
    [0] 没有待处理的反馈。
   *[other] 有 { $count } 条反馈待处理，从最早的开始。
}
settings-role = 有“管理消息”权限的人和 { $role } 的成员可以更正记忆。
settings-role-none = 有“管理消息”权限的人可以更正记忆。
settings-log = 更正和反馈会发到 { $channel }。
settings-log-none = 更正和反馈不会发到任何频道。反馈可以用 `{ COMMAND("memory flags") }` 查看。
settings-zone = 时区是 { $zone }。每天当地凌晨 5 点，角色会整理前一天了解到的关于大家的事。
settings-zone-none = 没有设置时区，按机器人运营者的时区：每天那里凌晨 5 点，角色会整理前一天了解到的关于大家的事。
settings-language = 频道里所有人都会看到的文字用{ $language ->
    [en] 英语
    [ja] 日语
   *[other] 中文
}。
settings-language-none = 没有设置频道文字的语言：社区服务器用服务器的首选语言，其他服务器用机器人运营者设定的语言。
log-opened = 从现在起，记忆的变动会发在这里：更正、玩家的反馈，以及没能整理好的部分。
memory-none-of-kind = 没有这一类的记忆。
memory-redone = 依据的消息有改动，{ $count } 条记忆在所在章节重写之前暂不显示。
failed-title = 有一部分记忆没能整理好
failed-fold = 试了几次，还是没能把较早的发言整理成章节。什么都没有丢：发言一字不差地留着，故事继续之后我会再试。
failed-major = 试了几次，还是没能浓缩最早的章节。什么都没有丢：章节保持原样，下一章写好之后我会再试。
failed-refold = 第 { NUMBER($chapter, useGrouping: 0) } 章里的消息有改动，试了几次还是没能重写。依据那条消息的记忆会继续隐藏。
failed-audit = 试了几次，还是没能复查第 { NUMBER($chapter, useGrouping: 0) } 章。章节本身照原样保留。

# /memory stats

stats-title = 和{ $name }的故事：数据
stats-story = 故事
stats-turns = { $turns } 条发言，其中 { $replies } 条回复
stats-chapters = { $chapters } 个章节（发言数：中位 { $median } 条，最多 { $largest } 条）
stats-memory = 提示词里的记忆
stats-head = { $tokens } 个 token，{ $characters } 个字符
stats-folds = 整理
stats-fold = { $kind }：完成 { $done }，等待 { $open }，放弃 { $failed }
stats-spread = 中位 { $median } 秒，最长 { $largest } 秒
stats-vain = { $tries } 次尝试没有结果（会重试几次，仍不行则放弃）
stats-replies = 回复
stats-answering = 写作用时：{ $spread }
stats-waiting = 排队等模型：{ $spread }
stats-reuse = 提示词的复用
stats-share = 全部回复：{ $all } %
stats-share-ordinary = 平常的回复（之前记忆没有变动）：{ $ordinary } %
stats-share-unknown = 模型服务器没有提供。
stats-tokens = 计算和写出的 token
stats-unusable = 不能用的回答
stats-unanswered = 没有回答的请求
stats-of = { $what }：{ $counts }
stats-forced-cuts = 强制裁剪
stats-corrections = 更正
stats-corrected = 管理员改动 { $count } 次，其中 { $undone } 次是撤销之前的更正
stats-reports = 反馈：待处理 { $open } 条，已处理 { $decided } 条
stats-no-replies = 还没有提示词的记录，所以没有图。
stats-kind-fold = 发言整理成章节
stats-kind-major = 浓缩旧章节
stats-kind-refold = 重写章节
stats-kind-audit = 复查章节
stats-purpose-reply = 回复
stats-purpose-fold = 章节
stats-purpose-major_fold = 浓缩
stats-purpose-audit = 复查
stats-code-refused = 被拒绝
stats-code-cut = 中途截断
stats-code-empty = 空白
stats-code-filtered = 被过滤
stats-code-repetition = 反复重复
stats-code-too_long = 比原文还长
stats-code-wrong_language = 语言不对
stats-code-continued_story = 续写了故事
stats-code-not_json = 格式不对
stats-code-nothing-held = 没有一条站得住
stats-code-no-shrink = 没有变短
stats-code-model-unavailable = 服务器连不上或出错
stats-code-model-busy = 队列已满
stats-code-model-timeout = 超时
stats-code-model-window = 提示词太长
stats-code-model-gave-way = 多次给回复让路
stats-code-model-key = 密钥被拒
stats-code-model-missing = 没有这个模型
stats-picture-title = 这个故事的提示词如何增长
stats-picture-replies = 回复
stats-picture-tokens = token
stats-picture-prompt = 提示词
stats-picture-computed = 其中重新计算的部分
stats-picture-fold = 发言整理成章节
stats-picture-major_fold = 浓缩旧章节
stats-picture-forced_cut = 强制裁剪
stats-picture-change = 更正等改动
stats-picture-described = 最新 { $replies } 条回复的提示词 token 数的图，最多 { $largest }，标出了 { $folds } 次整理。

# /memory about-me

about-gone = 这一条已经不在了。现在记着的内容可以用 `{ COMMAND("memory about-me") }` 查看。
about-not-remembered = 按你的意愿，{ $name }现在不记关于你的任何事。请先按“重新记住我”。
about-text-length = 请写 1 到 { $most } 个字。
about-text-order = 这读起来像是指令，或者是想象的事，所以不能留下。请直接写关于你的实际情况。
about-text-right = 角色不能记下你在这里有什么身份或权限。可以写成“自称……”。
about-title = { $name }记着的关于你的事
about-title-nobody = 关于你记着的事
about-nothing = 这里没有角色记着关于你的事。
about-empty = { $name }还没有记下关于你的事。
about-stranger = 按你的意愿，没有任何角色会记关于你的事。他们仍然会和你说话。
about-off = 按你的意愿，{ $name }不记关于你的事，但仍然会和你说话。
about-waiting = 还有 { $count } 次和你的对话没有看过。
about-in-guild = 在服务器“{ $name }”
about-in-other-guild = 在我已经离开的服务器
about-in-direct = 在私信里
about-traits = 长久记着的事
about-dormant = 快要忘记的事（聊到时会想起来）
about-forgotten = 最近忘记的事
about-notes = 最近的笔记
about-importance = { $importance ->
    [1] 不太重要
    [2] 有点重要
    [3] 重要
    [4] 很重要
   *[other] 最重要
}
about-hazy = 记不太清
about-until = 日期：{ $day }
about-since = 从 { $day } 起
about-seen = 最后一次聊到是 { $day }
about-absorbed = 已并入长久记着的事
about-taken-away = 你自己删除的
about-going = { $when }彻底消失
about-pick = 选一条，看看依据和能做的事
about-why = 依据的发言
about-why-none = 没有依据的发言：是你自己写的，或者是从别处导入的。
about-former = 以前的内容
about-by-you = 由你改写
about-by-judge = 对话之后改写
about-form-title = 用你自己的话写
about-form-text = 关于你
about-delete = 删除
about-restore = 恢复
about-back = 返回
about-stop = 不要记住我
about-stop-what = 从此不再记下关于你的新事情，笔记会立即删除。长久记着的事也会忘记；如果之后让角色重新记住你，{ $days } 天内还可以恢复。角色仍然会和你说话，故事的记忆也会保留。要让谁不记住你？
about-stop-one = 只有{ $name }
about-stop-all = 所有地方的所有角色
about-again = 重新记住我
status-forgotten = 应当事人要求已遗忘
correction-forgotten = 记忆 #{ NUMBER($number, useGrouping: 0) } 涉及一位要求被遗忘的人。它的内容已全部清除，无法恢复。
privacy-by-forgetting = 有人要求被遗忘之后
privacy-by-forgotten = 一位已被遗忘的人
privacy-export = 这是我保存的关于你的全部内容。只有你能看到这条消息。
privacy-nothing = 我没有保存任何关于你的内容，所以没有什么可遗忘的。
privacy-forget-title = 要我忘记你吗？
privacy-forget-intro = 删除后，你和管理员都无法恢复。可以先用 `{ COMMAND("privacy export") }` 留一份副本。
privacy-goes = 将被删除
privacy-goes-turns = 你的 { $count } 条消息的内容，以及上面的名字
privacy-goes-own-stories = 只有你写过的 { $count } 个故事（整个删除）
privacy-goes-memories = 至少 { $count } 条记忆：所有讲到你的，或以你写的内容为依据的
privacy-goes-replies = 在与他人共同的 { $count } 个故事里，回复中提到你名字或重复你原话的部分
privacy-goes-kept = 角色记住的关于你的内容：{ $notes } 条笔记，{ $traits } 条特征
privacy-goes-characters = 你私信中的 { $count } 个角色
privacy-goes-personas = 你的 { $count } 个人设（连同图片）
privacy-goes-reports = 你的 { $count } 条反馈
privacy-goes-made = 在服务器的 { $count } 个角色、记忆更正、反馈处理或故事回退上，“由你完成”的记录
privacy-stays = 将会保留
privacy-stays-what = 其他人写的内容，包括其中提到你的部分。回复中重复的你的个别词语或短句。Discord 里的消息：你可以自己在那里删除。你为服务器创建的角色，但不再带有你的名字。你的“不要记住我”设置（如果有）。
privacy-after = 之后
privacy-after-what = 有你消息的章节会根据剩下的内容重写。你可以继续玩，但对我来说你会是一个陌生人。
privacy-button-forget = 忘记我
privacy-button-keep = 保持原样
privacy-begun = 正在忘记你。故事很长时可能需要几分钟；可以关掉这条消息。
privacy-done = 已经忘记你了。
privacy-later = 已记下你要求被遗忘。现在还没有完成，我会自动继续，你不用做任何事。
privacy-kept = 什么都没有改变。
# /persona

persona-unknown = 你没有叫“{ $name }”的人设。用 `{ COMMAND("persona list") }` 看看你有哪些。
persona-none = 你现在没有在这里扮演谁。用 `{ COMMAND("persona list") }` 看看你的人设，用 `{ COMMAND("persona set") }` 新建一个。
persona-name-empty = 这个名字里没有可以显示的字。请换一个名字。
persona-name-long = 名字太长了，最多 { $most } 个字符。
persona-name-taken = 你已经有叫“{ $name }”的人设了。请换一个名字。
persona-description-long = 介绍太长了，最多 { $most } 个字符。
persona-brackets-unclear = 请照写消息的样子写出标记，其中正好有一个 `text`，例如 `mio: text` 或 `[text]`。只写 `text` 表示不用标记。
persona-brackets-long = 标记太长了，最多 { $most } 个字符。
persona-limit = 你已经有 { $most } 个人设，放不下了。请先用 `{ COMMAND("persona delete") }` 去掉一个。
persona-list-title = 你的人设
persona-list-empty = 还没有。用 `{ COMMAND("persona set") }` 新建一个，或者用 `{ COMMAND("persona import") }` 从 PluralKit、Tupperbox 或 SillyTavern 带过来。
persona-no-description = 还没有介绍。
persona-brackets = 在任何故事里，像 { $brackets } 这样的消息都算这个人设说的。
persona-active = ▶ 你在这里扮演的就是这个人设。
persona-created = { $name }来了。从现在起你在这里以{ $name }的身份说话，用 `{ COMMAND("persona clear") }` 可以结束。
persona-changed = { $name }已经改好，你在这里以{ $name }的身份说话。
persona-without-picture = Discord 这次没有接受图片。请过一会儿再试。
persona-used = 从现在起你在这里以{ $name }的身份说话，用 `{ COMMAND("persona clear") }` 可以结束。
persona-cleared = 你在这里又以自己的身份说话了。标记仍然有效。
persona-deleted = { $name }离开了。以这个身份说过的话会留在故事里。
persona-import-title = 来自 { $program }
persona-import-done = 新增 { $added } 个人设，更新了原有的 { $updated } 个。
persona-import-pictures = 我不会从文件里的地址下载任何东西，所以图片没有带过来。请用 `{ COMMAND("persona set") }` 添加。
persona-import-private = 有 { $count } 条介绍在原处标为私密，没有带过来。
persona-import-full = 有 { $count } 个放不下：{ $names }
persona-import-wrong = 文件里有 { $count } 条有误，没有带过来：
persona-entry = 第 { NUMBER($number, useGrouping: 0) } 条
persona-wrong-shape = 写法不是一个人设。
persona-wrong-name = 没有可以显示的名字。
persona-wrong-name-long = 名字超过 80 个字符。
persona-wrong-description-long = 介绍超过 2,000 个字符。
persona-wrong-brackets = 标记不是成对的文字，或者超过 20 对，或者超过 100 个字符。
persona-file-empty = 这个文件是空的。请附上 `pk;export` 或 `tul!export` 发给你的文件。
persona-file-large = 这个文件太大了。请用不超过 { $most } MB 的文件。
persona-file-not-text = 这个文件从第 { NUMBER($line, useGrouping: 0) } 行起不是文本。请附上 `pk;export` 或 `tul!export` 发给你的 JSON 文件。
persona-file-broken = 这个文件在第 { NUMBER($line, useGrouping: 0) } 行第 { NUMBER($column, useGrouping: 0) } 个字符处损坏。请重新导出，不要改动它。
persona-file-other = 这个文件不是 PluralKit 或 Tupperbox 的导出文件，也不是 SillyTavern 的人设备份。请附上 `pk;export` 或 `tul!export` 发给你的文件。
persona-file-card = 这个文件是角色卡，是由我来扮演的角色。人设是由你来扮演的，请用 `{ COMMAND("persona set") }` 新建。
persona-file-nobody = 这份 { $program } 导出文件里一个人也没有。
persona-file-not-loaded = 这次没能从 Discord 读取文件。请再试一次。

# 重新讲述

by-rewinding = 故事回退或恢复时
status-aside = 暂不可见：故事已回退到这之前
retell-no-turn = 这条消息不属于这里的故事。请选择玩家或角色的消息。
retell-scene-only = 只有这个故事的玩家和管理员才能这样做。请先在故事里发言。
retell-not-newest = 后面已经有内容了，或者它已经归入章节。只有最新的回复可以重新讲述。请先撤回后面的内容，或者回退到这里。
retell-not-last-exchange = 只能撤回最后一轮对话。想退得更远，请在要保留的最后一条消息上使用“{ MENU("Rewind to here") }”。
retell-unanswered = 这条消息还没有人回复，所以没有可以重新讲述的内容。用“{ MENU("Continue") }”可以请角色回复。
retell-paused = 故事暂停中。请先用 `{ COMMAND("session resume") }` 接着讲，然后再试一次。
retell-writing = 这条回复还没写完。请等它写完再试。
retell-done = 已重新讲述。用下方的 ◀ 和 ▶ 可以切换版本；只有显示的那一版真正发生过。
retell-went-on = 故事继续了。
retell-taken-back = 最后一轮对话已撤回，就当没有发生过。可以用 `{ COMMAND("session branches") }` 恢复。
retell-who-player = 第 { NUMBER($seq, useGrouping: 0) } 条发言，由 { $player } 以 **{ $name }** 的身份写下。
retell-who-character = 第 { NUMBER($seq, useGrouping: 0) } 条发言，出自角色 **{ $name }**（由模型 { $model } 写成）。
retell-who-telling = 这是 { NUMBER($count, useGrouping: 0) } 个版本中的第 { NUMBER($number, useGrouping: 0) } 个。
retell-who-aside = 它不属于现在的故事。
rewind-out-of-sight = 这条消息不属于现在的故事。用 `{ COMMAND("session branches") }` 可以查看其他分支。
rewind-nothing-follows = 这条消息后面没有内容，无需回退。
rewind-no-branch = 这条分支已经不在了。用 `{ COMMAND("session branches") }` 可以查看现有的分支。
rewind-memory-aside = 记忆 #{ NUMBER($number, useGrouping: 0) } 所依据的那段故事现在不可见。请先用 `{ COMMAND("session branches") }` 回到那里。
rewind-done = 已回退。用 `{ COMMAND("session branches") }` 可以查看离开的分支并返回。
rewind-announced = ⏪ { $by } 把故事回退到了 { $link }。之后的 { $turns } 条发言就当没有发生过，直到有人用 `{ COMMAND("session branches") }` 返回。
rewind-returned = ⏩ 故事回到了以前的分支：{ $turns } 条发言重新成为故事的一部分。
rewind-branches = 这个故事以前的分支。要回到其中一条，请在 `{ COMMAND("session branches") }` 中填写它的编号：
rewind-branches-none = 这个故事没有别的分支。
rewind-branch = { NUMBER($number, useGrouping: 0) } · { $turns } 条 · { $name }：{ $excerpt }

# 作为角色传来的文件究竟是什么

card-is-world = 这是一本没有角色的世界书。请导入它所属的角色卡：世界书会随卡一起进来。
card-is-preset = 这是模型的设置（预设），不是角色。请给我角色卡本身：PNG、JSON 或 .charx 文件。
card-is-picture = 这张图片里没有角色卡。很多程序在显示或缩小图片时会丢掉里面的卡，请使用从发布处保存下来的原始文件。
card-is-camel = 这是另一个程序自有格式的角色。请在那里导出为角色卡（V2 或 V3），再导入。
card-is-plain = 这是 text-generation-webui 或 Pygmalion 旧格式的角色。请用能读取它的程序（例如 SillyTavern）打开，再导出为角色卡（PNG 或 JSON）。
card-is-text = 这只是一段文字，不是角色卡。可以用 `{ COMMAND("character create") }` 打开表单，把文字粘贴进去。
card-is-json = 这是 JSON，但不是角色卡。角色卡至少要有名字或描述；请导出为 V2 或 V3。
card-is-archive = 这个压缩包里没有 `card.json`，所以不是 .charx 文件。请导入角色卡本身：PNG、JSON 或 .charx 文件。
card-too-large = 文件太大了。角色卡最大 25 MB，解压后的文字最多 16 MB。
card-says-too-much = { $name }的角色卡内容太多：连同世界书最多 400 万字。请缩短后重新导入。
card-too-deep = 这个文件嵌套得太深，不会是角色卡。请用生成它的程序重新导出。
card-broken = 文件已损坏，或者内容与文件名不符。请重新下载或导出。
card-not-utf-8 = 无法读取文件里的文字。请另存为 UTF-8 后再导入。
card-empty = 文件里有角色卡，但既没有名字也没有描述，没有人可以扮演。
card-not-loaded = 刚才没能从 Discord 读取这个文件。请再试一次。
card-export-large = { $name }的角色卡太大，无法在这个频道里发送。请试试更小的 `json` 格式。

# 角色何时回复

manners-mode-every = { $name }会回复每一条消息。
manners-mode-spoken = 有人对{ $name }说话时才会回复：叫出名字、回复{ $name }的消息，或者提及本机器人。其他消息也都听到了，会在下一次回复时一并回应。
manners-mode-pause = 等到{ NUMBER($seconds, useGrouping: 0) }秒内没有人再发言，{ $name }才会回复。
manners-marks-both = `((…))`或`[OOC: …]`里的内容，以及以`//`开头的行，都是故事之外的闲聊，{ $name }看不到。
manners-marks-brackets = `((…))`或`[OOC: …]`里的内容是故事之外的闲聊，{ $name }看不到。
manners-marks-slashes = 以`//`开头的行是故事之外的闲聊，{ $name }看不到。
manners-marks-none = 你们写的一切都属于故事，没有标记故事之外闲聊的符号。
manners-wait-player = ⏳ { $players }，一下子说得太多了。{ $name }会在{ NUMBER($seconds, useGrouping: 0) }秒后回复，消息一条也不会丢。
manners-spent-player = 一下子要得太多了。请在{ NUMBER($seconds, useGrouping: 0) }秒后再试。
manners-spent-guild = 这个服务器现在很热闹。请在{ NUMBER($seconds, useGrouping: 0) }秒后再试。
manners-wait-guild = ⏳ 这个服务器现在很热闹。{ $name }会在{ NUMBER($seconds, useGrouping: 0) }秒后回复，消息一条也不会丢。

# 故事里的角色

cast-title = 这个故事里的角色
cast-line = **{ $name }** · 从一开始
cast-line-late = **{ $name }** · 从第 { NUMBER($seq, useGrouping: 0) } 条发言起
cast-joined = **{ $name }**加入了故事，只知道从现在起发生的事。
cast-left = **{ $name }**离开了故事。{ $name }说过的话会保留。
cast-there-already = { $name }已经在这个故事里了。
cast-not-there = 这个故事里没有叫这个名字的角色。用 `{ COMMAND("session cast show") }` 查看有谁。
cast-full = 这个故事里已经有 { $most } 个角色，不能再多了。请先用 `{ COMMAND("session cast remove") }` 让一个角色离开。
cast-gone = { $name }已经离开故事，不能重讲这一段了。
cast-lead = 这个故事是从{ $name }开始的，{ $name }不能离开。可以用 `{ COMMAND("session stop") }` 暂停它，再和别的角色开始新的故事。
