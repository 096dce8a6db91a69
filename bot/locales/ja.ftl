# エラーは、何が起きたかと、どうすればよいかを伝える。

error-unexpected = こちらで思わぬ不具合が起きました。もう一度お試しください。繰り返すようなら、管理者にこの番号を伝えてください：`{ $reference }`

model-unavailable = いま言語モデルにつながりません。メッセージは保存してあります。少し待ってから、もう一度お試しください。
model-busy = いま{ $waiting }件の返事が順番待ちで、これ以上は並べません。メッセージは保存してあります。1分ほど待って、もう一度お試しください。
model-timeout = { $seconds }秒待ちましたが、モデルの返事が終わりませんでした。メッセージは保存してあります。もう一度お試しください。
model-window = 物語がモデルの窓に収まらなくなりました。メッセージは保存してあります。もっと大きな窓を使うよう管理者に頼んでから、もう一度お試しください。
model-key = モデルのサーバーに鍵を断られました。メッセージは保存してあります。管理者に `LLM_API_KEY` の確認を頼んでください。
model-missing = 設定されたモデルがサーバーに見つかりません。メッセージは保存してあります。管理者に `LLM_MODEL` の確認を頼んでください。
model-filtered = モデルの提供元がこの返事を差し止めました。メッセージは保存してあります。もう一度試すか、文面を変えてみてください。
model-empty = モデルの返事が空でした。メッセージは保存してあります。もう一度お試しください。
delivery-refused = Discord が返事を受け付けなかったので、物語には入れていません。わたしがここに書き込めるかを確かめて、もう一度お試しください。

character-unknown = 「{ $name }」というキャラクターはここにいません。`/character list` で一覧を見られます。
character-name-taken = 「{ $name }」という名前はもう使われています。別の名前にしてください。
character-name-empty = その名前には表示できる文字がありません。別の名前にしてください。
character-not-yours = { $name }を消せるのは、作った人とモデレーターだけです。
character-in-use = { $name }はいま物語に出ています。先に `/session stop` で止めてください。
picture-unreadable = この画像は読み取れませんでした。PNG、JPEG、GIF、WebP のどれかを使ってください。
picture-too-large = 画像が大きすぎます。8 MB、4000 万画素までの画像を使ってください。

session-none = このチャンネルにはまだ物語がありません。`/session start` で始められます。
session-already-running = このチャンネルでは、もう物語が進んでいます。先に `/session stop` で止めてください。
session-unknown = その物語はこのチャンネルにありません。`/session resume` の候補から選んでください。
session-permissions = ここではまだ物語を語れません。このチャンネルで次の権限をください：
    { $missing }

memory-unknown = この物語に記憶 #{ NUMBER($number, useGrouping: 0) } はありません。`/memory show` で全部見られます。
moderators-only = これができるのはモデレーター（「メッセージの管理」権限か、このサーバーで決めたロールのある人）だけです。モデレーターに頼んでください。
correction-changes-nothing = 記憶 #{ NUMBER($number, useGrouping: 0) } はすでにその内容です。変えるところはありません。
correction-not-a-fact = 記憶 #{ NUMBER($number, useGrouping: 0) } は事実として書かれていないので、「言っただけ」にはできません。文を直すか、外すことはできます。
correction-needs-text = 記憶 #{ NUMBER($number, useGrouping: 0) } の新しい文を書いてください。
correction-quote-is-verbatim = 記憶 #{ NUMBER($number, useGrouping: 0) } は一字一句そのままの引用です。外すことはできますが、書き換えられません。
correction-nothing-to-restore = 記憶 #{ NUMBER($number, useGrouping: 0) } は直されたことがないので、元に戻すものがありません。
correction-conflict = 記憶 #{ NUMBER($number, useGrouping: 0) } は、たった今ほかで変わりました。`/memory history` で見直してから決めてください。
undo-too-late = 記憶 #{ NUMBER($number, useGrouping: 0) } はそのあとでまた直されたので、このボタンではもう元に戻せません。いまの様子は `/memory history` で見られます。
reveal-nothing = 記憶 #{ NUMBER($number, useGrouping: 0) } に伏せてあることはありません。
memory-not-shown = 記憶 #{ NUMBER($number, useGrouping: 0) } はこの一覧にありません。種類が違うか、いまは使っていないかです。どうなったかは `/memory history` で見られます。
flag-guild-only = ダイレクトメッセージにモデレーターはいません。ここでは `/memory correct` で自分で直せます。
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
character-list-empty = まだ誰もいません。`/character create` で最初のひとりを作れます。
character-first-message = 最初のひとこと
character-created = { $name }の準備ができました。`/session start` で物語を始められます。
character-created-without-picture = { $name }の準備はできましたが、いま Discord が画像を受け付けなかったので、絵はありません。やり直すなら、`/character delete` で消して作り直してください。
character-deleted = { $name }は去りました。これまでの物語はこれからも読めます。
form-character-title = 新しいキャラクター
form-character-name = 名前
form-character-name-hint = 物語の中での呼び名
form-character-description = 人物
form-character-description-hint = どんな人か、どう話すか、何を望んでいるか
form-character-first = 最初のひとこと
form-character-first-hint = なくてもかまいません。物語の始まりに言うこと

# /session

session-started = { $name }との物語が始まります。このチャンネルに書けば、{ $name }が答えます。`((二重の括弧))` の中は物語に入りません。
session-permissions-better = 次の権限もあると、もっとうまくいきます：
    { $missing }
session-stopped = **{ $name }**との物語はここでひと休みです。何も忘れません。続きは `/session resume` で。
session-resumed = **{ $name }**との物語の続きです。書けば答えます。
story-choice = 物語 { NUMBER($number, useGrouping: 0) } · { $name } · { $day }
permission-view = チャンネルを見る
permission-send = メッセージを送信
permission-threads = スレッドでメッセージを送信
permission-webhooks = ウェブフックの管理（キャラクターが自分の名前と絵で話せます）
permission-history = メッセージ履歴を読む（再起動のあと、同じ返事を二度送らずにすみます）
info-running = 物語 { NUMBER($number, useGrouping: 0) } が進んでいます。
info-stopped = 物語 { NUMBER($number, useGrouping: 0) } はお休み中です。
info-turns = これまでの発言は{ $turns }件。うち新しい{ $raw }件は一字一句そのまま覚えています。
info-memories = 使っている記憶は{ $memories }件、章は{ $chapters }つ。
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
flag-kept = ありがとうございます。記憶 #{ NUMBER($number, useGrouping: 0) } についての知らせを預かりました。わたしが書き込める知らせ先のチャンネルがまだ決まっていないので、モデレーターにひとこと伝えてください。`/memory flags` で見られます。
flags-open = { $count ->
    [0] 待っている知らせはありません。
   *[other] { $count }件の知らせが待っています。古いものから並べます。
}
settings-role = 記憶を直せるのは、「メッセージの管理」権限のある人と、{ $role }のメンバーです。
settings-role-none = 記憶を直せるのは、「メッセージの管理」権限のある人です。
settings-log = 訂正と知らせは{ $channel }に載せます。
settings-log-none = 訂正と知らせはどこにも載せません。知らせは `/memory flags` で見られます。
settings-zone = タイムゾーンは { $zone } です。毎日その午前5時に、キャラクターは前の日に人について知ったことを見直します。
settings-zone-none = タイムゾーンは未設定なので、ボットの運営者のものを使います。毎日その午前5時に、キャラクターは前の日に人について知ったことを見直します。
log-opened = これからは、記憶がどうなったかをここに載せます。訂正、プレイヤーからの知らせ、まとめられなかったものです。
memory-none-of-kind = この種類の記憶はありません。
memory-redone = もとの発言が変わったので、{ $count }件の記憶は章を書き直すまで伏せてあります。
failed-title = まとめられなかった記憶があります
failed-fold = 何度試しても、古い発言を章にまとめられませんでした。何も失われていません。発言は一字一句そのまま残り、物語が進んだらまた試します。
failed-major = 何度試しても、いちばん古い章をまとめ直せませんでした。何も失われていません。章はそのまま残り、次の章ができたらまた試します。
failed-refold = もとの発言が変わった第{ NUMBER($chapter, useGrouping: 0) }章を、何度試しても書き直せませんでした。その発言をもとにした記憶は伏せたままです。
failed-audit = 何度試しても、第{ NUMBER($chapter, useGrouping: 0) }章の点検ができませんでした。章そのものは、書かれたまま残っています。

# /memory about-me

about-gone = それはもうありません。いま覚えていることは `/memory about-me` で見られます。
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
privacy-forget-intro = 消えたものは、あなたにもモデレーターにも元に戻せません。先に `/privacy export` で控えを受け取れます。
privacy-goes = 消えるもの
privacy-goes-turns = あなたの発言 { $count } 件の本文と、そこに付いた名前
privacy-goes-own-stories = あなたしか書いていない物語 { $count } 話（まるごと）
privacy-goes-memories = 記憶 { $count } 件以上（あなたに関するもの、あなたの発言にもとづくもののすべて）
privacy-goes-replies = ほかの人もいる物語 { $count } 話で、返事のうちあなたの名前が出る部分や、あなたの言葉を繰り返している部分
privacy-goes-kept = キャラクターがあなたについて覚えていること（メモ { $notes } 件、特徴 { $traits } 件）
privacy-goes-characters = あなたのダイレクトメッセージ用のキャラクター { $count } 人
privacy-goes-reports = あなたからの知らせ { $count } 件
privacy-goes-made = サーバーのキャラクター、記憶の訂正、知らせへの判断 { $count } 件に付いた、あなたが行ったという記録
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
