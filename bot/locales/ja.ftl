# エラーは、何が起きたかと、どうすればよいかを伝える。

error-unexpected = こちらで思わぬ不具合が起きました。もう一度お試しください。繰り返すようなら、管理者にこの番号を伝えてください：`{ $reference }`

model-unavailable = いま言語モデルにつながりません。メッセージは保存してあります。少し待ってから、もう一度お試しください。
model-busy = いま{ $waiting }件の返事が順番待ちで、これ以上は並べません。メッセージは保存してあります。1分ほど待って、もう一度お試しください。
model-timeout = { $seconds }秒待ちましたが、モデルの返事が終わりませんでした。メッセージは保存してあります。もう一度お試しください。
model-window = 物語がモデルのコンテキスト長に収まらなくなりました。メッセージは保存してあります。コンテキスト長を増やすよう管理者に頼んでから、もう一度お試しください。
model-key = モデルのサーバーに鍵を断られました。メッセージは保存してあります。管理者に `LLM_API_KEY` の確認を頼んでください。
model-missing = 設定されたモデルがサーバーに見つかりません。メッセージは保存してあります。管理者に `LLM_MODEL` の確認を頼んでください。
model-filtered = モデルの提供元がこの返事を差し止めました。メッセージは保存してあります。もう一度試すか、文面を変えてみてください。
model-empty = モデルの返事が空でした。メッセージは保存してあります。もう一度お試しください。
model-gave-way = モデルはいま返事で手いっぱいです。あとでもう一度試します。
delivery-refused = Discord が返事を受け付けなかったので、物語には入れていません。わたしがここに書き込めるかを確かめて、もう一度お試しください。

character-unknown = 「{ $name }」というキャラクターはここにいません。誰がいるかは `{ COMMAND("character list") }` で見られます。
character-name-taken = 「{ $name }」という名前はもう使われています。別の名前にしてください。
character-name-of-player = このキャラクターの物語には、「{ $name }」という名前の人がすでにいます。別の名前にしてください。
character-name-empty = その名前には表示できる文字がありません。別の名前にしてください。
character-not-yours = { $name }についてそれができるのは、作った人とモデレーターだけです。
character-in-use = { $name }はいま物語に出ています。止めてもよければ、もう一度 `{ COMMAND("character delete") }` を使ってください。
character-adult = { $name }は成人向けなので、年齢制限のあるチャンネルでだけ演じられます。モデレーターはチャンネルの設定で年齢制限をかけられます。
character-too-long = { $name }のカードは約 { $tokens } トークンあり、モデルのコンテキスト長（{ $window } トークン）に物語を書く余地が残りません。`{ COMMAND("character edit") }` で短くしてください。
character-no-such-greeting = { $name }にその挨拶はありません。一覧から選んでください。
picture-unreadable = この画像は読み取れませんでした。PNG、JPEG、GIF、WebP のどれかを使ってください。
picture-too-large = 画像が大きすぎます。8 MB、2500 万画素までの画像を使ってください。

session-none = このチャンネルにはまだ物語がありません。`{ COMMAND("session start") }` で始められます。
session-already-running = このチャンネルでは、もう物語が進んでいます。先に `{ COMMAND("session stop") }` で止めてください。
session-unknown = その物語はこのチャンネルにありません。`{ COMMAND("session resume") }` の候補から選んでください。
session-character-gone = { $name }はもう消されたので、この物語の続きはできません。読むことはできます。
session-permissions = ここではまだ物語を語れません。このチャンネルで次の権限をください：
    { $missing }

memory-unknown = この物語に記憶 #{ NUMBER($number, useGrouping: 0) } はありません。`{ COMMAND("memory show") }` で全部見られます。
moderators-only = これができるのはモデレーター（「メッセージの管理」権限か、このサーバーで決めたロールのある人）だけです。モデレーターに頼んでください。
correction-changes-nothing = 記憶 #{ NUMBER($number, useGrouping: 0) } はすでにその内容です。変えるところはありません。
correction-not-a-fact = 記憶 #{ NUMBER($number, useGrouping: 0) } は事実として書かれていないので、「言っただけ」にはできません。文を直すか、外すことはできます。
correction-needs-text = 記憶 #{ NUMBER($number, useGrouping: 0) } の新しい文を書いてください。
correction-quote-is-verbatim = 記憶 #{ NUMBER($number, useGrouping: 0) } は一字一句そのままの引用です。外すことはできますが、書き換えられません。
correction-nothing-to-restore = 記憶 #{ NUMBER($number, useGrouping: 0) } は直されたことがないので、元に戻すものがありません。
correction-conflict = 記憶 #{ NUMBER($number, useGrouping: 0) } は、たった今ほかで変わりました。`{ COMMAND("memory history") }` で見直してから決めてください。
undo-too-late = 記憶 #{ NUMBER($number, useGrouping: 0) } はそのあとでまた直されたので、このボタンではもう元に戻せません。いまの様子は `{ COMMAND("memory history") }` で見られます。
reveal-nothing = 記憶 #{ NUMBER($number, useGrouping: 0) } に伏せてあることはありません。
memory-not-shown = 記憶 #{ NUMBER($number, useGrouping: 0) } はこの一覧にありません。種類が違うか、いまは使っていないかです。どうなったかは `{ COMMAND("memory history") }` で見られます。
flag-guild-only = ダイレクトメッセージにモデレーターはいません。ここでは `{ COMMAND("memory correct") }` で自分で直せます。
flag-not-in-use = 記憶 #{ NUMBER($number, useGrouping: 0) } はいま使っていないので、知らせることはありません。
flag-limit = この1時間に{ $most }件知らせてもらいました。1時間に知らせられるのはここまでです。しばらくしてから、もう一度お試しください。
flag-unknown = その知らせはもうありません。
flag-decided = { $by }が先に片づけました。この知らせはもう済んでいます。
flag-settled = この知らせはもう済んでいます。
settings-guild-only = ダイレクトメッセージに設定はありません。ここではすべて自分で決められます。
settings-manage-server = これを変えられるのは「サーバー管理」権限のある人だけです。その人に頼んでください。
settings-role-everyone = そのロールには全員が入っています。モデレーターだけのロールを選んでください。
settings-channel-closed = { $channel }に書き込めません。そこでわたしに「チャンネルを見る」「メッセージを送信」「埋め込みリンク」を許可して、もう一度お試しください。
settings-time-zone-unknown = 「{ $name }」というタイムゾーンはありません。入力中に出る一覧から、Asia/Tokyo のように選んでください。

# チャンネルの全員が読むもの

hint-webhooks = モデレーターの方へひとこと。このチャンネルで「**ウェブフックの管理**」を許可し、ウェブフックの枠をひとつ空けてもらえると、キャラクターが自分の名前と絵で話せます。
notice-interrupted = 返事の途中で止まってしまいました。書いてもらったものは何も失われていません。
button-retry = もう一度

# /character

character-list-title = キャラクター
character-list-empty = まだ誰もいません。`{ COMMAND("character create") }` で最初のひとりを作れます。
character-created = { $name }の準備ができました。`{ COMMAND("session start") }` で物語を始められます。
character-created-without-picture = { $name }の準備はできましたが、いま Discord が画像を受け付けなかったので、絵はありません。`{ COMMAND("character edit") }` で付けられます。
character-deleted = { $name }は去りました。これまでの物語はこれからも読めます。
form-character-title = 新しいキャラクター
form-character-name = 名前
form-character-name-hint = 物語の中での呼び名
form-character-description = 人物
form-character-description-hint = どんな人か、どう話すか、何を望んでいるか
form-character-first-message = 最初のひとこと
form-character-first-message-hint = なくてもかまいません。物語の始まりに言うこと
character-holds = { $greetings ->
    [0] 挨拶なし
   *[other] 挨拶 { $greetings } 種類
}、{ $entries ->
    [0] ロアブックなし
   *[other] ロアブック { $entries } 項目
}。
character-is-adult = 年齢制限のあるチャンネルでだけ演じられます。
character-assets-left-out = カードにはほかに { $count } 個の画像などが付いていましたが、残すのは主な画像だけです。
character-picture-left-out = いまは画像を残せませんでした。`{ COMMAND("character edit") }` で付けられます。
character-creator-notes = 作者より
character-greeting = 別の挨拶（{ $number }）
character-greeting-none = 挨拶なし（プレイヤーから始める）
character-stories = いま { $count } 件の物語に出ています。
character-delete-sure = { $name }はいま { $stories } 件の物語に出ています。消すと物語は止まりますが、これからも読めます。それでも消しますか？
character-delete-button = 物語を止めて消す
character-edited = { $name }を変更しました。進行中の物語には、次の返事から反映されます。
character-edited-without-picture = いま Discord が画像を受け付けなかったので、前の画像のままです。
character-edited-left-out = 長すぎて入力欄に入らないため、そのままにしたもの: { $fields }。変えるには `{ COMMAND("character export") }` で受け取ったファイルを直して、読み込み直してください。
form-character-edit-title = キャラクターを変更する
form-character-personality = 性格
form-character-scenario = 場面設定
form-character-nickname = 愛称
form-character-system-prompt = システムプロンプト
form-character-post-history-instructions = 履歴のあとの指示
form-character-mes-example = 会話の例
form-character-creator-notes = 作者のメモ（モデルには送られません）

# /session

session-started = { $name }との物語が始まります。このチャンネルに書けば、{ $name }が答えます。`((二重の括弧))` の中は物語に入りません。
session-permissions-better = 次の権限もあると、もっとうまくいきます：
    { $missing }
session-stopped = **{ $name }**との物語はここでひと休みです。何も忘れません。続きは `{ COMMAND("session resume") }` で。
session-resumed = **{ $name }**との物語の続きです。書けば答えます。
story-choice = 物語 { NUMBER($number, useGrouping: 0) } · { $name } · { $day }
permission-view = チャンネルを見る
permission-send = メッセージを送信
permission-threads = スレッドでメッセージを送信
permission-webhooks = ウェブフックの管理（キャラクターが自分の名前と絵で話せます）
permission-history = メッセージ履歴を読む（再起動のあと、同じ返事を二度送らずにすみます）
permission-embeds = 埋め込みリンク（報告やリンクがきちんと表示されます）
info-running = 物語 { NUMBER($number, useGrouping: 0) } が進んでいます。
info-stopped = 物語 { NUMBER($number, useGrouping: 0) } はお休み中です。
info-turns = これまでの発言は{ $turns }件。うち新しい{ $raw }件は一字一句そのまま覚えています。
info-memories = 使っている記憶は{ $memories }件、章の数は{ $chapters }です。
info-budget = { $trigger }トークンのうち{ $used }を使っています。あふれる前に、古い発言は章にまとめられます。
info-folds-waiting = まもなく章にまとめるものが{ $folds }件あります。
info-folds-failed = ⚠ 章にまとめられなかったものが{ $folds }件あります。元の発言は残っているので、何も失われていません。管理者に知らせてください。
info-forced-cuts = ⚠ 章にまとめる前の発言がモデルの視野から外れたことが{ $cuts }回あります。発言そのものは残っています。
info-model = モデル：{ $model }

# /memory

memory-title = { $name }との物語で覚えていること
memory-legend = • 出来事  ✔ 事実  💬 言ったこと  🎭 見かけ  ❓ 未解決  ❝ 引用  ✎ 訂正済み  🔒 胸の内
memory-synopsis = ずっと前のこと
memory-chapter = 第{ NUMBER($ordinal, useGrouping: 0) }章（発言 { NUMBER($first, useGrouping: 0) }〜{ NUMBER($last, useGrouping: 0) }）
memory-loose-ends = まだ終わっていないこと
memory-quotes = 残しておく言葉
memory-raw = { $turns ->
    [0] ここまでのことは、すべて上の記憶に入っています。
   *[other] 新しい{ $turns }件の発言はまだ章にまとめておらず、一字一句そのまま覚えています。
}
memory-empty = { $turns ->
    [0] まだ何も起きていません。
   *[other] まだ記憶はありません。ここまでの{ $turns }件の発言は、すべて一字一句そのまま覚えています。
}
memory-restates = （訂正された #{ NUMBER($number, useGrouping: 0) } の繰り返し）
memory-private = 本人が胸にしまっていること
memory-claim = { $speaker }が言ったこと：{ $text }
memory-claim-to = { $speaker }が{ $addressee }に言ったこと：{ $text }
memory-quote = { $speaker }：{ $text }
history-title = 記憶 #{ NUMBER($number, useGrouping: 0) }
history-versions = これまでの版
history-evidence = もとになった発言
history-condenses = { $numbers } をまとめたものです。
history-thought = （口に出していない思い）
history-gone = （もう残っていない）
history-turn = 発言 { NUMBER($seq, useGrouping: 0) }
search-title = 検索
search-memories = 記憶
search-turns = 発言
search-nothing = この物語にその言葉は見つかりませんでした。
by-fold = 章にまとめたとき
by-major-fold = 古い章をまとめ直したとき
by-audit = 章を点検したとき
by-edit = もとのメッセージが編集されたとき
by-deletion = もとのメッセージが消されたとき
status-condensed = いまは、まとめ直した記憶の一部
status-resolved = 解決済み
status-retracted = 外された
status-stale = もとの発言が変わったので、いまは伏せてある
status-replaced = 章が書き直されて、置き換わった
form-correction-title = 記憶 #{ NUMBER($number, useGrouping: 0) } を直す
form-correction-text = 新しい文
form-correction-reason = 理由（履歴に残ります）
correction-done = 記憶 #{ NUMBER($number, useGrouping: 0) } を直しました
correction-done-out = 記憶 #{ NUMBER($number, useGrouping: 0) } を物語から外しました
correction-actual = （本当のところも書き直しました）
form-correction-actual = 本当のところ
form-correction-actual-hint = プレイヤーには見えません。空のままなら変わりません。
button-undo = 元に戻す
button-reveal = 伏せてあることを見る
button-claim = 言っただけ
button-edit = 書き直す
button-retract = 外す
button-dismiss = このままにする
did-claim = { $by }が「言っただけ」にしました。
did-edit = { $by }が書き直しました。
did-retract = { $by }が外しました。
did-restore = { $by }が直前の訂正を元に戻しました。
did-dismiss = { $by }がこのままにしました。
reveal-actual = 本当は：{ $text }
report-title = 記憶 #{ NUMBER($number, useGrouping: 0) } は間違い？
report-by = { $by }からの知らせ：
report-by-audit = 章の点検で疑わしいとされましたが、もとの発言だけでは決められません。
flag-sent = ありがとうございます。記憶 #{ NUMBER($number, useGrouping: 0) } のことをモデレーターに知らせました。
flag-kept = ありがとうございます。記憶 #{ NUMBER($number, useGrouping: 0) } についての知らせを預かりました。わたしが書き込める知らせ先のチャンネルがまだ決まっていないので、モデレーターにひとこと伝えてください。`{ COMMAND("memory flags") }` で見られます。
flags-open = { $count ->
    [0] 待っている知らせはありません。
   *[other] { $count }件の知らせが待っています。古いものから並べます。
}
settings-role = 記憶を直せるのは、「メッセージの管理」権限のある人と、{ $role }のメンバーです。
settings-role-none = 記憶を直せるのは、「メッセージの管理」権限のある人です。
settings-log = 訂正と知らせは{ $channel }に載せます。
settings-log-none = 訂正と知らせはどこにも載せません。知らせは `{ COMMAND("memory flags") }` で見られます。
settings-zone = タイムゾーンは { $zone } です。毎日その午前5時に、キャラクターは前の日に人について知ったことを見直します。
settings-zone-none = タイムゾーンは未設定なので、ボットの運営者のものを使います。毎日その午前5時に、キャラクターは前の日に人について知ったことを見直します。
settings-language = チャンネルのみんなが読む文は、{ $language ->
    [en] 英語
    [zh] 中国語
   *[other] 日本語
}で書きます。
settings-language-none = チャンネルのみんなが読む文の言語は未設定なので、コミュニティサーバーではサーバーの優先言語、それ以外ではボットの運営者が決めた言語で書きます。
log-opened = これからは、記憶がどうなったかをここに載せます。訂正、プレイヤーからの知らせ、まとめられなかったものです。
memory-none-of-kind = この種類の記憶はありません。
memory-redone = もとの発言が変わったので、{ $count }件の記憶は章を書き直すまで伏せてあります。
failed-title = まとめられなかった記憶があります
failed-fold = 何度試しても、古い発言を章にまとめられませんでした。何も失われていません。発言は一字一句そのまま残り、物語が進んだらまた試します。
failed-major = 何度試しても、いちばん古い章をまとめ直せませんでした。何も失われていません。章はそのまま残り、次の章ができたらまた試します。
failed-refold = もとの発言が変わった第{ NUMBER($chapter, useGrouping: 0) }章を、何度試しても書き直せませんでした。その発言をもとにした記憶は伏せたままです。
failed-audit = 何度試しても、第{ NUMBER($chapter, useGrouping: 0) }章の点検ができませんでした。章そのものは、書かれたまま残っています。

# /memory stats

stats-title = { $name }との物語の記録
stats-story = 物語
stats-turns = 発言{ $turns }件、うち返事{ $replies }件
stats-chapters = 全{ $chapters }章（発言の数は中央値{ $median }件、最大{ $largest }件）
stats-memory = プロンプトの中の記憶
stats-head = { $tokens }トークン、{ $characters }文字
stats-folds = 章へのまとめ
stats-fold = { $kind }：完了{ $done }、待ち{ $open }、断念{ $failed }
stats-spread = 中央値{ $median }秒、最大{ $largest }秒
stats-vain = うまくいかなかった試み：{ $tries }回（何度かやり直し、だめなら断念します）
stats-replies = 返事
stats-answering = 書く時間：{ $spread }
stats-waiting = モデルの順番待ち：{ $spread }
stats-reuse = プロンプトの再利用
stats-share = 返事全体では{ $all } %
stats-share-ordinary = 記憶が変わった直後を除くと{ $ordinary } %
stats-share-unknown = モデルのサーバーが教えてくれません。
stats-tokens = 計算し、書いたトークン
stats-unusable = 使えなかった答え
stats-unanswered = 答えのなかった問い合わせ
stats-of = { $what }：{ $counts }
stats-forced-cuts = 強制的な切り詰め
stats-corrections = 訂正
stats-corrected = モデレーターによる変更{ $count }件、うち前の訂正を取り消したもの{ $undone }件
stats-reports = 知らせ：未解決{ $open }件、解決済み{ $decided }件
stats-no-replies = プロンプトの記録がまだないので、図はありません。
stats-kind-fold = 発言を章に
stats-kind-major = 古い章をまとめ直し
stats-kind-refold = 章の書き直し
stats-kind-audit = 章の点検
stats-purpose-reply = 返事
stats-purpose-fold = 章
stats-purpose-major_fold = 古い章のまとめ直し
stats-purpose-audit = 点検
stats-code-refused = 断られた
stats-code-cut = 途中で切れた
stats-code-empty = 空だった
stats-code-filtered = 検閲された
stats-code-repetition = 同じ言葉の繰り返し
stats-code-too_long = もとより長い
stats-code-wrong_language = 違う言語
stats-code-continued_story = 物語の続きを書いた
stats-code-not_json = 求めた形でない
stats-code-nothing-held = 裏づけが何もない
stats-code-no-shrink = 短くなっていない
stats-code-model-unavailable = サーバーに届かない、または故障
stats-code-model-busy = 順番待ちが満杯
stats-code-model-timeout = 時間切れ
stats-code-model-window = プロンプトが長すぎる
stats-code-model-gave-way = 返事に何度も譲った
stats-code-model-key = キーを断られた
stats-code-model-missing = モデルがない
stats-picture-title = この物語のプロンプトの伸び
stats-picture-replies = 返事
stats-picture-tokens = トークン
stats-picture-prompt = プロンプト
stats-picture-computed = うち新たに計算した分
stats-picture-fold = 発言を章にまとめた
stats-picture-major_fold = 古い章をまとめ直した
stats-picture-forced_cut = 強制的な切り詰め
stats-picture-change = 訂正などの変更
stats-picture-described = 新しい返事{ $replies }件のプロンプトのトークン数の図。最大は{ $largest }、まとめの印は{ $folds }か所。

# /memory about-me

about-gone = それはもうありません。いま覚えていることは `{ COMMAND("memory about-me") }` で見られます。
about-not-remembered = { $name }は、あなたの希望どおり、いまは何も覚えないことになっています。先に「また覚えてもらう」を押してください。
about-text-length = 1文字以上、{ $most }文字以内で書いてください。
about-text-order = 指示か、想像の話のように読めるので残せません。あなたについて、そのとおりのことを書いてください。
about-text-right = ここでの役目や権限があるとは覚えさせられません。「〜と言っている」という書き方なら残せます。
about-title = { $name }があなたについて覚えていること
about-title-nobody = あなたについて覚えていること
about-nothing = ここには、あなたについて何か覚えているキャラクターはいません。
about-empty = { $name }は、まだあなたについて何も覚えていません。
about-stranger = あなたの希望で、どのキャラクターもあなたについて何も覚えません。話はこれまでどおりできます。
about-off = あなたの希望で、{ $name }はあなたについて何も覚えません。話はこれまでどおりできます。
about-waiting = まだ見直していないやりとりが{ $count }件あります。
about-in-guild = サーバー「{ $name }」
about-in-other-guild = わたしがもういないサーバー
about-in-direct = ダイレクトメッセージ
about-traits = 長く覚えていること
about-dormant = 忘れかけていること（話に出れば思い出します）
about-forgotten = 最近忘れたこと
about-notes = 最近のメモ
about-importance = { $importance ->
    [1] あまり大事ではない
    [2] 少し大事
    [3] 大事
    [4] とても大事
   *[other] 何より大事
}
about-hazy = うろ覚え
about-until = { $day }の予定
about-since = { $day }から
about-seen = 最後に話に出たのは{ $day }
about-absorbed = いまは「長く覚えていること」の一部
about-taken-away = 自分で消した
about-going = { $when }に完全に消える
about-pick = 行を選ぶと、その理由と、できることが見られます
about-why = もとになった発言
about-why-none = もとになった発言はありません。自分で書いたか、外から取り込んだものです。
about-former = 以前の文
about-by-you = 自分で書き直した
about-by-judge = 会話のあとで書き直された
about-form-title = 自分の言葉で書く
about-form-text = あなたについて
about-delete = 消す
about-restore = 元に戻す
about-back = 戻る
about-stop = わたしを覚えないで
about-stop-what = これからは、あなたについて新しいことを何も書き留めません。メモはすぐに消えます。長く覚えていたことも忘れますが、また覚えてもらうことにすれば、{ $days }日のあいだは元に戻せます。キャラクターとの話はこれまでどおりできて、物語の記憶もそのまま残ります。誰に覚えないでもらいますか？
about-stop-one = { $name }だけ
about-stop-all = どこでも、全員
about-again = また覚えてもらう
status-forgotten = 本人の希望で忘れた
correction-forgotten = 記憶 #{ NUMBER($number, useGrouping: 0) } は、忘れてほしいと希望した人に関するものでした。中身は残っておらず、元に戻すこともできません。
privacy-by-forgetting = 忘れてほしいという希望があったとき
privacy-by-forgotten = のちに忘れてほしいと希望した人
privacy-export = あなたについて保存しているもののすべてです。このメッセージはあなたにしか見えません。
privacy-nothing = あなたについて保存しているものはないので、忘れるものもありません。
privacy-forget-title = あなたのことを忘れますか？
privacy-forget-intro = 消えたものは、あなたにもモデレーターにも元に戻せません。先に `{ COMMAND("privacy export") }` で控えを受け取れます。
privacy-goes = 消えるもの
privacy-goes-turns = あなたの発言 { $count } 件の本文と、そこに付いた名前
privacy-goes-own-stories = あなたしか書いていない物語 { $count } 話（まるごと）
privacy-goes-memories = 記憶 { $count } 件以上（あなたに関するもの、あなたの発言にもとづくもののすべて）
privacy-goes-replies = ほかの人もいる物語 { $count } 話で、返事のうちあなたの名前が出る部分や、あなたの言葉を繰り返している部分
privacy-goes-kept = キャラクターがあなたについて覚えていること（メモ { $notes } 件、特徴 { $traits } 件）
privacy-goes-characters = あなたのダイレクトメッセージ用のキャラクター { $count } 人
privacy-goes-personas = あなたのペルソナ { $count } 人（画像も）
privacy-goes-reports = あなたからの知らせ { $count } 件
privacy-goes-made = サーバーのキャラクター、記憶の訂正、知らせへの判断、物語の巻き戻し { $count } 件に付いた、あなたが行ったという記録
privacy-stays = 残るもの
privacy-stays-what = ほかの人が書いたもの（あなたに触れた部分も含みます）。返事が繰り返した、あなたの短い言葉。Discord 上のメッセージ（自分の分はそちらで削除できます）。サーバー用に作ったキャラクター（あなたの名前は外れます）。「覚えないでほしい」という設定（している場合）。
privacy-after = そのあと
privacy-after-what = あなたの発言があった章は、残ったものから書き直されます。続けて遊べますが、初対面の人として扱われます。
privacy-button-forget = 忘れてもらう
privacy-button-keep = このままにする
privacy-begun = あなたのことを忘れています。長い物語では数分かかることがあります。閉じてもかまいません。
privacy-done = あなたのことを忘れました。
privacy-later = 忘れてほしいという希望は記録しました。まだ終わっていませんが、自動で続けるので、何もしなくて大丈夫です。
privacy-kept = 何も変えていません。
# /persona

persona-unknown = 「{ $name }」というペルソナは持っていません。`{ COMMAND("persona list") }` で自分のペルソナを見られます。
persona-none = ここでは今、誰も演じていません。`{ COMMAND("persona list") }` で自分のペルソナを見て、`{ COMMAND("persona set") }` で新しく作れます。
persona-name-empty = その名前には表示できる文字がありません。別の名前にしてください。
persona-name-long = 名前が長すぎます。{ $most }文字までです。
persona-name-taken = 「{ $name }」というペルソナはもう持っています。別の名前にしてください。
persona-description-long = 紹介が長すぎます。{ $most }文字までです。
persona-brackets-unclear = 囲み文字は、`text` という語をちょうど一つ入れて、メッセージの形で書いてください。たとえば `mio: text` や `[text]` です。`text` だけなら、囲み文字なしになります。
persona-brackets-long = 囲み文字が長すぎます。{ $most }文字までです。
persona-limit = ペルソナが{ $most }人いるので、これ以上は入りません。先に `{ COMMAND("persona delete") }` で誰かを消してください。
persona-list-title = あなたのペルソナ
persona-list-empty = まだ誰もいません。`{ COMMAND("persona set") }` で作るか、`{ COMMAND("persona import") }` で PluralKit、Tupperbox、SillyTavern から連れてきてください。
persona-no-description = 紹介はまだありません。
persona-brackets = 物語の中なら、どこでも { $brackets } の形のメッセージはこの人の言葉になります。
persona-active = ▶ ここではこの人を演じています。
persona-created = { $name }ができました。これからここでは{ $name }として話します。やめるときは `{ COMMAND("persona clear") }` で。
persona-changed = { $name }を変えました。ここでは{ $name }として話します。
persona-without-picture = いま Discord が画像を受け付けませんでした。しばらくしてからもう一度お試しください。
persona-used = これからここでは{ $name }として話します。やめるときは `{ COMMAND("persona clear") }` で。
persona-cleared = ここではまた自分自身として話します。囲み文字はこれまでどおり使えます。
persona-deleted = { $name }は去りました。{ $name }として言ったことは物語に残ります。
persona-import-title = { $program } から
persona-import-done = 新しいペルソナは{ $added }人、前からいて最新になったペルソナは{ $updated }人です。
persona-import-pictures = ファイルに書かれたアドレスからは何も取り込まないので、画像は引き継がれません。`{ COMMAND("persona set") }` で付けてください。
persona-import-private = 元の場所で非公開になっている紹介が{ $count }件あったので、引き継ぎませんでした。
persona-import-full = { $count }人は入りきりませんでした：{ $names }
persona-import-wrong = ファイルの{ $count }件は誤りがあるので、引き継ぎませんでした：
persona-entry = { NUMBER($number, useGrouping: 0) }件目
persona-wrong-shape = ペルソナの形で書かれていません。
persona-wrong-name = 表示できる文字のある名前がありません。
persona-wrong-name-long = 名前が80文字を超えています。
persona-wrong-description-long = 紹介が2,000文字を超えています。
persona-wrong-brackets = 囲み文字が文字の組になっていないか、20組または100文字を超えています。
persona-file-empty = そのファイルは空です。`pk;export` か `tul!export` で届くファイルを添付してください。
persona-file-large = そのファイルは大きすぎます。{ $most } MB までのものを使ってください。
persona-file-not-text = そのファイルは{ NUMBER($line, useGrouping: 0) }行目からテキストではありません。`pk;export` か `tul!export` で届く JSON ファイルを添付してください。
persona-file-broken = そのファイルは{ NUMBER($line, useGrouping: 0) }行目の{ NUMBER($column, useGrouping: 0) }文字目で壊れています。手を加えずに、もう一度書き出してください。
persona-file-other = そのファイルは PluralKit や Tupperbox の書き出しでも、SillyTavern のペルソナのバックアップでもありません。`pk;export` か `tul!export` で届くファイルを添付してください。
persona-file-card = そのファイルはキャラクターカード、つまりわたしが演じる人物です。ペルソナはあなたが演じる人物なので、`{ COMMAND("persona set") }` で作ってください。
persona-file-nobody = その { $program } の書き出しには誰もいません。
persona-file-not-loaded = いま Discord からそのファイルを読み込めませんでした。もう一度お試しください。

# 語り直し

by-rewinding = 物語を巻き戻したとき、または元に戻したとき
status-aside = 今は表に出ていません：物語がこれより前まで巻き戻されました
retell-no-turn = そのメッセージは、ここの物語の一部ではありません。参加者かキャラクターの発言を選んでください。
retell-scene-only = これができるのは、この物語の参加者とモデレーターだけです。まず物語の中で発言してください。
retell-not-newest = もう続きがあるか、すでに章にまとめられています。語り直せるのは最新の返事だけです。続きを取り消すか、そこまで巻き戻してください。
retell-not-last-exchange = 取り消せるのは最後のやり取りだけです。もっと前まで戻るには、残したい最後のメッセージで「{ MENU("Rewind to here") }」を使ってください。
retell-unanswered = このメッセージにはまだ返事がないので、語り直せません。「{ MENU("Continue") }」で返事をもらえます。
retell-paused = 物語は止まっています。`{ COMMAND("session resume") }` で続けてから、もう一度お試しください。
retell-writing = この返事はまだ書いている途中です。書き終わってから、もう一度お試しください。
retell-done = 語り直しました。下の ◀ と ▶ でほかの版に切り替えられます。実際に起きたことになるのは、表示中の版だけです。
retell-went-on = 物語が先へ進みました。
retell-taken-back = 最後のやり取りを取り消しました。なかったことになります。`{ COMMAND("session branches") }` で元に戻せます。
retell-who-player = { NUMBER($seq, useGrouping: 0) }番目の発言です。{ $player }さんが**{ $name }**として書きました。
retell-who-character = { NUMBER($seq, useGrouping: 0) }番目の発言です。キャラクターの**{ $name }**の言葉で、モデル { $model } が書きました。
retell-who-telling = { NUMBER($count, useGrouping: 0) }つの版のうち、{ NUMBER($number, useGrouping: 0) }番目です。
retell-who-aside = 今の物語には含まれていません。
rewind-out-of-sight = このメッセージは、今の物語には含まれていません。ほかの分岐は `{ COMMAND("session branches") }` で見られます。
rewind-nothing-follows = このメッセージの後には何もないので、巻き戻すものがありません。
rewind-no-branch = その分岐はもうありません。残っている分岐は `{ COMMAND("session branches") }` で見られます。
rewind-memory-aside = 記憶 #{ NUMBER($number, useGrouping: 0) } のもとになった部分は、今は表に出ていません。先に `{ COMMAND("session branches") }` でそこへ戻ってください。
rewind-done = 巻き戻しました。それまでの展開は `{ COMMAND("session branches") }` で一覧でき、そこへ戻ることもできます。
rewind-announced = ⏪ { $by }さんが物語を { $link } まで巻き戻しました。その後の{ $turns }件の発言は、誰かが `{ COMMAND("session branches") }` で戻るまで、なかったことになります。
rewind-returned = ⏩ 物語は以前の分岐に戻りました。{ $turns }件の発言がふたたび物語の一部になりました。
rewind-branches = この物語の以前の分岐です。戻るには `{ COMMAND("session branches") }` に番号を指定してください。
rewind-branches-none = この物語にほかの分岐はありません。
rewind-branch = { NUMBER($number, useGrouping: 0) } · { $turns }件 · { $name }：{ $excerpt }

# キャラクターとして渡されたファイルの正体

card-is-world = これはキャラクターのいないロアブックです。元のカードを読み込んでください。ロアブックはカードと一緒に入ります。
card-is-preset = これはモデルの設定（プリセット）で、キャラクターではありません。カードそのもの（PNG、JSON、.charx）を渡してください。
card-is-picture = この画像にはカードが入っていません。表示や縮小のときにカードが消えてしまうことがよくあります。配布元から保存した元のファイルを使ってください。
card-is-camel = これは別のソフト独自の形式のキャラクターです。そのソフトでキャラクターカード（V2 か V3）として書き出してから読み込んでください。
card-is-plain = これは text-generation-webui や Pygmalion の古い形式のキャラクターです。SillyTavern など、この形式を読めるソフトで開き、カード（PNG か JSON）として書き出してください。
card-is-text = これはただの文章で、カードではありません。`{ COMMAND("character create") }` でキャラクターを作り、そこに貼り付けてください。
card-is-json = これは JSON ですが、キャラクターカードではありません。カードには少なくとも名前か説明があります。V2 か V3 で書き出してください。
card-is-archive = この圧縮ファイルには `card.json` がないので、.charx ではありません。カードそのもの（PNG、JSON、.charx）を渡してください。
card-too-large = ファイルが大きすぎます。カードは 25 MB まで、展開した文章は 16 MB までです。
card-says-too-much = { $name }のカードは長すぎます。ロアブックも合わせて400万文字までです。短くしてから読み込み直してください。
card-too-deep = 入れ子が深すぎて、カードとして読めません。作ったソフトでもう一度書き出してください。
card-broken = ファイルが壊れているか、名前どおりの中身ではありません。もう一度ダウンロードするか、書き出してください。
card-not-utf-8 = ファイルの文字を読めません。UTF-8 で保存してから、もう一度読み込んでください。
card-empty = カードは入っていますが、名前も説明もないので、演じる相手がいません。
card-not-loaded = いま Discord からそのファイルを読み込めませんでした。もう一度お試しください。
card-export-large = { $name }のカードは、このチャンネルに送るには大きすぎます。より小さい `json` 形式を試してください。

# キャラクターが返事をするとき

manners-mode-every = { $name }はすべてのメッセージに返事をします。
manners-mode-spoken = { $name }は話しかけられたときに返事をします。名前を呼ぶ、{ $name }のメッセージに返信する、またはこのボットにメンションしてください。ほかのメッセージも聞いていて、次の返事でまとめて応えます。
manners-mode-pause = { $name }は、{ NUMBER($seconds, useGrouping: 0) }秒のあいだ誰も書かなければ返事をします。
manners-marks-both = `((…))`や`[OOC: …]`の中と、`//`で始まる行は物語の外の会話です。{ $name }には見えません。
manners-marks-brackets = `((…))`や`[OOC: …]`の中は物語の外の会話です。{ $name }には見えません。
manners-marks-slashes = `//`で始まる行は物語の外の会話です。{ $name }には見えません。
manners-marks-none = 書いたことはすべて物語の一部です。物語の外の会話を示す印はありません。
manners-wait-player = ⏳ { $players }さん、少しペースが速いようです。{ $name }はあと{ NUMBER($seconds, useGrouping: 0) }秒で返事をします。メッセージはすべて届いています。
manners-spent-player = 少しペースが速いようです。あと{ NUMBER($seconds, useGrouping: 0) }秒たってから、もう一度お試しください。
manners-spent-guild = いまこのサーバーはとてもにぎわっています。あと{ NUMBER($seconds, useGrouping: 0) }秒たってから、もう一度お試しください。
manners-wait-guild = ⏳ いまこのサーバーはとてもにぎわっています。{ $name }はあと{ NUMBER($seconds, useGrouping: 0) }秒で返事をします。メッセージはすべて届いています。

# 物語の登場人物

cast-title = この物語の登場人物
cast-line = **{ $name }** · はじめから
cast-line-late = **{ $name }** · 発言 { NUMBER($seq, useGrouping: 0) } から
cast-joined = **{ $name }**が物語に加わりました。これからのことだけを知っています。
cast-left = **{ $name }**が物語を離れました。{ $name }が話したことは残ります。
cast-there-already = { $name }はもうこの物語に出ています。
cast-not-there = その名前のキャラクターはこの物語に出ていません。`{ COMMAND("session cast show") }` で登場人物を見られます。
cast-full = この物語にはもう{ $most }人のキャラクターが出ていて、これ以上は増やせません。先に `{ COMMAND("session cast remove") }` で誰かを外してください。
cast-gone = { $name }はもう物語を離れたので、これを語り直すことはできません。
cast-lead = この物語は{ $name }と始めたものなので、{ $name }を外すことはできません。`{ COMMAND("session stop") }` で止めて、別のキャラクターと新しい物語を始めてください。
