# 错误信息说明发生了什么，以及该怎么办。

error-unexpected = 我这边出了点意外。请再试一次；如果还是这样，请把这个编号告诉机器人的管理者：`{ $reference }`

model-unavailable = 现在连不上语言模型。你的消息已经保存好了，请稍后再试。
model-busy = 已有 { $waiting } 条回复在排队，暂时排不下了。你的消息已经保存好了，请过一分钟再试。
model-timeout = 等了 { $seconds } 秒，模型还没有答完。你的消息已经保存好了，请再试一次。
model-window = 这个故事已经超出了模型的窗口。你的消息已经保存好了。请让机器人的管理者换一个更大的窗口，然后再试。
model-key = 模型服务器不接受我的密钥。你的消息已经保存好了。请让机器人的管理者检查 `LLM_API_KEY`。
model-missing = 模型服务器上没有我要用的模型。你的消息已经保存好了。请让机器人的管理者检查 `LLM_MODEL`。
model-filtered = 模型的提供方拦下了这次回答。你的消息已经保存好了。请再试一次，或者先改一改你的消息。
model-empty = 模型什么也没有回答。你的消息已经保存好了，请再试一次。
delivery-refused = Discord 没有接受这条回复，所以它不算在故事里。请确认我可以在这里发言，然后再试一次。

character-unknown = 这里没有叫“{ $name }”的角色。用 `/character list` 看看都有谁。
character-name-taken = 这里已经有叫“{ $name }”的角色了。请换一个名字。
character-name-empty = 这个名字里没有可以显示的字。请换一个名字。
character-not-yours = 只有创建{ $name }的人或管理员才能删除这个角色。
character-in-use = { $name }正在一个故事里。请先用 `/session stop` 停下来。
picture-unreadable = 这张图片我读不了。请用 PNG、JPEG、GIF 或 WebP 文件。
picture-too-large = 这张图片太大了。请用不超过 8 MB、4000 万像素的图片。

session-none = 这个频道里还没有故事。用 `/session start` 开始一个吧。
session-already-running = 这个频道里已经有故事在进行了。请先用 `/session stop` 停下来。
session-unknown = 这个频道里没有那个故事。请从 `/session resume` 给出的列表中选择。
session-permissions = 我还不能在这里讲故事。请在这个频道给我这些权限：
    { $missing }

memory-unknown = 这个故事里没有记忆 #{ NUMBER($number, useGrouping: 0) }。用 `/memory show` 可以看到全部。
moderators-only = 只有管理员（有“管理消息”权限，或有本服务器指定的身份组）才能这样做。请找一位管理员帮忙。
correction-changes-nothing = 记忆 #{ NUMBER($number, useGrouping: 0) } 已经是这样了，没有要改的。
correction-not-a-fact = 记忆 #{ NUMBER($number, useGrouping: 0) } 不是作为事实记下的，所以不能改成“只是说过”。可以改写它，或者把它撤下。
correction-needs-text = 请写下记忆 #{ NUMBER($number, useGrouping: 0) } 的新内容。
correction-quote-is-verbatim = 记忆 #{ NUMBER($number, useGrouping: 0) } 是一字不差的引文。可以撤下，但不能改写。
correction-nothing-to-restore = 记忆 #{ NUMBER($number, useGrouping: 0) } 从没被更正过，没有可以撤销的。
correction-conflict = 记忆 #{ NUMBER($number, useGrouping: 0) } 刚刚被改动了。请用 `/memory history` 再看一眼，然后决定。
undo-too-late = 记忆 #{ NUMBER($number, useGrouping: 0) } 后来又被更正过，这个按钮已经不能撤销了。现在的样子可以用 `/memory history` 查看。
reveal-nothing = 记忆 #{ NUMBER($number, useGrouping: 0) } 没有隐藏的内容。
memory-not-shown = 记忆 #{ NUMBER($number, useGrouping: 0) } 不在这些页里：它属于别的种类，或者没有在使用。它的去向可以用 `/memory history` 查看。
flag-guild-only = 私信里没有管理员：在这里你可以自己用 `/memory correct` 更正。
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
character-list-empty = 还没有角色。用 `/character create` 创建第一个吧。
character-first-message = 开场白
character-created = { $name }准备好了。用 `/session start` 开始故事吧。
character-created-without-picture = { $name }准备好了，但 Discord 这次没有接受图片，所以没有头像。想再试的话，请用 `/character delete` 删除后重新创建。
character-deleted = { $name }离开了。有关的故事仍然可以阅读。
form-character-title = 新角色
form-character-name = 名字
form-character-name-hint = 在故事里怎么称呼
form-character-description = 描述
form-character-description-hint = 是什么样的人，怎么说话，想要什么
form-character-first = 开场白
form-character-first-hint = 可以不填：新故事开始时说的话

# /session

session-started = 和{ $name }的故事开始了。在这个频道里写，{ $name }就会回答。写在 `((双括号))` 里的话不算在故事里。
session-permissions-better = 如果还有这些权限，会更好：
    { $missing }
session-stopped = 和**{ $name }**的故事先停在这里。什么都不会忘记，用 `/session resume` 就能继续。
session-resumed = 和**{ $name }**的故事继续了。写下去，就会有回答。
story-choice = 故事 { NUMBER($number, useGrouping: 0) } · { $name } · { $day }
permission-view = 查看频道
permission-send = 发送消息
permission-threads = 在子区内发送消息
permission-webhooks = 管理 Webhook（角色可以用自己的名字和头像说话）
permission-history = 阅读消息历史记录（重启之后不会重复发送同一条回复）
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
search-turns = 消息
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
flag-kept = 谢谢。你对记忆 #{ NUMBER($number, useGrouping: 0) } 的反馈已经记下。管理员还没有设置我能发言的反馈频道，请告诉他们一声：用 `/memory flags` 就能看到。
flags-open = { $count ->
    [0] 没有待处理的反馈。
   *[other] 有 { $count } 条反馈待处理，从最早的开始。
}
settings-role = 有“管理消息”权限的人和 { $role } 的成员可以更正记忆。
settings-role-none = 有“管理消息”权限的人可以更正记忆。
settings-log = 更正和反馈会发到 { $channel }。
settings-log-none = 更正和反馈不会发到任何频道。反馈可以用 `/memory flags` 查看。
settings-zone = 时区是 { $zone }。每天当地凌晨 5 点，角色会整理前一天了解到的关于大家的事。
settings-zone-none = 没有设置时区，按机器人运营者的时区：每天那里凌晨 5 点，角色会整理前一天了解到的关于大家的事。
log-opened = 从现在起，记忆的变动会发在这里：更正、玩家的反馈，以及没能整理好的部分。
memory-none-of-kind = 没有这一类的记忆。
memory-redone = 依据的消息有改动，{ $count } 条记忆在所在章节重写之前暂不显示。
failed-title = 有一部分记忆没能整理好
failed-fold = 试了几次，还是没能把较早的发言整理成章节。什么都没有丢：发言一字不差地留着，故事继续之后我会再试。
failed-major = 试了几次，还是没能浓缩最早的章节。什么都没有丢：章节保持原样，下一章写好之后我会再试。
failed-refold = 第 { NUMBER($chapter, useGrouping: 0) } 章里的消息有改动，试了几次还是没能重写。依据那条消息的记忆会继续隐藏。
failed-audit = 试了几次，还是没能复查第 { NUMBER($chapter, useGrouping: 0) } 章。章节本身照原样保留。

# /memory about-me

about-gone = 这一条已经不在了。现在记着的内容可以用 `/memory about-me` 查看。
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
privacy-forget-intro = 删除后，你和管理员都无法恢复。可以先用 `/privacy export` 留一份副本。
privacy-goes = 将被删除
privacy-goes-turns = 你的 { $count } 条消息的内容，以及上面的名字
privacy-goes-own-stories = 只有你写过的 { $count } 个故事（整个删除）
privacy-goes-memories = 至少 { $count } 条记忆：所有讲到你的，或以你写的内容为依据的
privacy-goes-replies = 在与他人共同的 { $count } 个故事里，回复中提到你名字或重复你原话的部分
privacy-goes-kept = 角色记住的关于你的内容：{ $notes } 条笔记，{ $traits } 条特征
privacy-goes-characters = 你私信中的 { $count } 个角色
privacy-goes-reports = 你的 { $count } 条反馈
privacy-goes-made = 在服务器的 { $count } 个角色、记忆更正或反馈处理上，“由你完成”的记录
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
