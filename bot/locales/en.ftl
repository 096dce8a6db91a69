# Errors say what happened, and what to do about it.

error-unexpected = Something went wrong on my side. Please try again; if it happens again, give whoever runs me this reference: `{ $reference }`

model-unavailable = I couldn't reach the language model just now. Your message is safe. Please try again in a moment.
model-busy = { $waiting ->
    [one] One reply is already waiting for the model, and I can't queue another. Your message is safe. Please try again in a minute.
   *[other] { $waiting } replies are already waiting for the model, and I can't queue another. Your message is safe. Please try again in a minute.
}
model-timeout = { $seconds ->
    [one] The model didn't finish its answer within one second. Your message is safe. Please try again.
   *[other] The model didn't finish its answer within { $seconds } seconds. Your message is safe. Please try again.
}
model-window = This story no longer fits the model's window. Your message is safe. Please ask whoever runs me to give the model a larger window, then try again.
model-key = The model server refused my key. Your message is safe. Please ask whoever runs me to check `LLM_API_KEY`.
model-missing = The model server doesn't have the model that I'm set to use. Your message is safe. Please ask whoever runs me to check `LLM_MODEL`.
model-filtered = The model's provider withheld this answer. Your message is safe. Try again, or edit your message first.
model-empty = The model answered with nothing. Your message is safe. Please try again.
model-gave-way = The model is needed for replies just now. This will be tried again later.
delivery-refused = Discord didn't accept the reply, so it isn't part of the story. Please check that I may write here, then try again.

character-unknown = There's no character called “{ $name }” here. `/character list` shows who there is.
character-name-taken = There's already a character called “{ $name }” here. Please choose another name.
character-name-of-player = Somebody who plays with this character is already called “{ $name }”. Please choose another name.
character-name-empty = That name has no letters I can show. Please choose another one.
character-not-yours = Only the person who created { $name }, or a moderator, can do that.
character-in-use = { $name } is in a story right now. Use `/character delete` again if it may stop.
character-adult = { $name } is for adults, and may only be played in age-restricted channels. A moderator can mark this channel as one in its settings.
character-too-long = { $name }'s card takes about { $tokens } tokens, which leaves no room for a story in the model's window of { $window }. Please shorten it with `/character edit`.
character-no-such-greeting = { $name } has no such greeting. Please choose one from the list.
picture-unreadable = I can't read that picture. Please use a PNG, JPEG, GIF or WebP file.
picture-too-large = That picture is too large. Please use one of at most 8 MB and 25 megapixels.

session-none = There's no story in this channel yet. Start one with `/session start`.
session-already-running = A story is already running in this channel. Stop it with `/session stop` first.
session-unknown = That story isn't in this channel. Choose one from the list that `/session resume` offers.
session-character-gone = { $name } was removed, so this story can't go on. It can still be read.
session-permissions = I can't tell a story here yet. Please give me these permissions in this channel:
    { $missing }

memory-unknown = This story has no memory #{ NUMBER($number, useGrouping: 0) }. `/memory show` lists them all.
moderators-only = Only moderators (with the permission Manage Messages, or the role that this server chose) can do that. Please ask one of them.
correction-changes-nothing = Memory #{ NUMBER($number, useGrouping: 0) } is like that already; there's nothing to change.
correction-not-a-fact = Memory #{ NUMBER($number, useGrouping: 0) } isn't told as a fact, so it can't become something that was only said. You can change its text or take it out.
correction-needs-text = Please write the new text for memory #{ NUMBER($number, useGrouping: 0) }.
correction-quote-is-verbatim = Memory #{ NUMBER($number, useGrouping: 0) } is a quote, kept word for word. You can take it out, but not reword it.
correction-nothing-to-restore = Memory #{ NUMBER($number, useGrouping: 0) } was never corrected, so there's nothing to undo.
correction-conflict = Memory #{ NUMBER($number, useGrouping: 0) } has just been changed. Look at it again with `/memory history`, then decide.
undo-too-late = Memory #{ NUMBER($number, useGrouping: 0) } was corrected again since, so this button can't undo it any more. `/memory history` shows how it stands.
reveal-nothing = Nothing of memory #{ NUMBER($number, useGrouping: 0) } is hidden.
memory-not-shown = Memory #{ NUMBER($number, useGrouping: 0) } isn't on these pages: it's of another kind, or not in use. `/memory history` shows what became of it.
flag-guild-only = There are no moderators in a direct message: here you can correct it yourself, with `/memory correct`.
flag-not-in-use = Memory #{ NUMBER($number, useGrouping: 0) } isn't in use at the moment, so there's nothing to report.
flag-limit = { $most ->
    [one] You've reported one memory within the last hour; more than that isn't possible. Please try again later.
   *[other] You've reported { $most } memories within the last hour; more than that isn't possible. Please try again later.
}
flag-unknown = That report is no longer there.
flag-decided = { $by } was faster: this report is settled already.
flag-settled = This report is settled already.
settings-guild-only = Direct messages have no settings: here everything is yours to decide.
settings-manage-server = Only people with the permission Manage Server can change this. Please ask one of them.
settings-role-everyone = That role has everybody in it. Please choose one that only moderators have.
settings-channel-closed = I can't write in { $channel }. Please let me view it, send messages and embed links there, then try again.
settings-time-zone-unknown = I don't know the time zone “{ $name }”. Please pick one from the list that appears as you type, such as Europe/Berlin.

# What the whole channel reads

hint-webhooks = A small hint for the moderators: characters get their own name and picture here once I may manage webhooks in this channel (permission **Manage Webhooks**, with room for one more webhook).
notice-interrupted = I was interrupted while answering. Nothing you wrote is lost.
button-retry = Try again

# /character

character-list-title = Characters
character-list-empty = Nobody yet. Create the first one with `/character create`.
character-created = { $name } is ready. Begin with `/session start`.
character-created-without-picture = { $name } is ready, but Discord didn't take the picture just now, so they have none. You can add it with `/character edit`.
character-deleted = { $name } is gone. Stories with them can still be read.
form-character-title = A new character
form-character-name = Name
form-character-name-hint = How they are called in the story
form-character-description = Description
form-character-description-hint = Who they are, how they speak, what they want
form-character-first-message = First message
form-character-first-message-hint = Optional: how they open a new story
character-holds = { $greetings ->
    [0] No greeting
    [one] One greeting
   *[other] { $greetings } greetings
}, { $entries ->
    [0] no lorebook
    [one] a lorebook with one entry
   *[other] a lorebook with { $entries } entries
}.
character-is-adult = Only to be played in age-restricted channels.
character-assets-left-out = { $count ->
    [one] One more picture or other file came with the card; I keep only the main picture.
   *[other] { $count } more pictures or other files came with the card; I keep only the main picture.
}
character-picture-left-out = The picture couldn't be kept just now. You can add one with `/character edit`.
character-creator-notes = What its creator says
character-greeting = Another greeting ({ $number })
character-greeting-none = No greeting: the players begin
character-stories = { $count ->
    [one] In one story right now.
   *[other] In { $count } stories right now.
}
character-delete-sure = { $stories ->
    [one] { $name } is in a story right now. It would stop, and stay readable.
   *[other] { $name } is in { $stories } stories right now. They would stop, and stay readable.
} Remove them anyway?
character-delete-button = Stop and remove
character-edited = { $name } is changed. Stories that run know it from the next reply on.
character-edited-without-picture = Discord didn't take the picture just now, so the old one stays.
character-edited-left-out = Too long for a form, and left as they are: { $fields }. To change them, use `/character export`, edit the file, and import it again.
form-character-edit-title = Change a character
form-character-personality = Personality
form-character-scenario = Scenario
form-character-nickname = Nickname
form-character-system-prompt = System prompt
form-character-post-history-instructions = Instructions after the history
form-character-mes-example = Example dialogue
form-character-creator-notes = Creator's notes (never sent to the model)

# /session

session-started = The story with { $name } begins. Write in this channel, and { $name } will answer. Text in `((double parentheses))` stays out of the story.
session-permissions-better = It would go better with these permissions:
    { $missing }
session-stopped = The story with **{ $name }** pauses here. Nothing is forgotten: `/session resume` continues it.
session-resumed = The story with **{ $name }** goes on. Write, and they will answer.
story-choice = Story { NUMBER($number, useGrouping: 0) } · { $name } · { $day }
permission-view = View Channel
permission-send = Send Messages
permission-threads = Send Messages in Threads
permission-webhooks = Manage Webhooks (characters get their own name and picture)
permission-history = Read Message History (after a restart, no reply is sent twice)
permission-embeds = Embed Links (reports and addresses show up as they should)
info-running = Story { NUMBER($number, useGrouping: 0) } is running.
info-stopped = Story { NUMBER($number, useGrouping: 0) } is paused.
info-turns = { $turns ->
    [one] One turn so far
   *[other] { $turns } turns so far
}; { $raw ->
    [one] the newest one is
   *[other] the newest { $raw } are
} remembered word for word.
info-memories = { $memories ->
    [one] One memory
   *[other] { $memories } memories
} in use, { $chapters ->
    [one] in one chapter.
   *[other] in { $chapters } chapters.
}
info-budget = { $used } of { $trigger } tokens are used before older turns are folded into a chapter.
info-folds-waiting = { $folds ->
    [one] One fold is due and will run shortly.
   *[other] { $folds } folds are due and will run shortly.
}
info-folds-failed = ⚠ { $folds ->
    [one] One fold failed
   *[other] { $folds } folds failed
} for good. Nothing is lost: the turns are kept. Please tell whoever runs me.
info-forced-cuts = ⚠ { $cuts ->
    [one] Once, turns had
   *[other] { $cuts } times, turns had
} to leave the model's view before they were folded. They are kept.
info-model = Model: { $model }

# /memory

memory-title = What is remembered of the story with { $name }
memory-legend = • event  ✔ fact  💬 said  🎭 appearance  ❓ open  ❝ quote  ✎ corrected  🔒 private
memory-synopsis = Long ago
memory-chapter = Chapter { NUMBER($ordinal, useGrouping: 0) } (turns { NUMBER($first, useGrouping: 0) }–{ NUMBER($last, useGrouping: 0) })
memory-loose-ends = Still open
memory-quotes = Quotes
memory-raw = { $turns ->
    [0] Everything so far is in the memories above.
    [one] The newest turn isn't folded yet; it is remembered word for word.
   *[other] The newest { $turns } turns aren't folded yet; they are remembered word for word.
}
memory-empty = { $turns ->
    [0] Nothing has happened yet.
    [one] No memories yet: the one turn so far is remembered word for word.
   *[other] No memories yet: all { $turns } turns so far are remembered word for word.
}
memory-restates = (repeats the corrected #{ NUMBER($number, useGrouping: 0) })
memory-private = something that a character keeps to themselves
memory-claim = { $speaker } said: { $text }
memory-claim-to = { $speaker } said to { $addressee }: { $text }
memory-quote = { $speaker }: { $text }
history-title = Memory #{ NUMBER($number, useGrouping: 0) }
history-versions = Versions
history-evidence = What it rests on
history-condenses = It condenses { $numbers }.
history-thought = (a thought that stays private)
history-gone = (no longer there)
history-turn = Turn { NUMBER($seq, useGrouping: 0) }
search-title = Search
search-memories = Memories
search-turns = Turns
search-nothing = Nothing in this story has these words.
by-fold = noted by folding
by-major-fold = noted by condensing older chapters
by-audit = set right by a second look at the chapter
by-edit = after a message was edited
by-deletion = after a message was deleted
status-condensed = now part of a condensed memory
status-resolved = resolved
status-retracted = taken out
status-stale = out of sight: a message it rests on was changed
status-replaced = replaced: its chapter was written anew
form-correction-title = Correct memory #{ NUMBER($number, useGrouping: 0) }
form-correction-text = New text
form-correction-reason = Reason (kept in its history)
correction-done = Memory #{ NUMBER($number, useGrouping: 0) } is corrected
correction-done-out = Memory #{ NUMBER($number, useGrouping: 0) } is out of the story
correction-actual = (Its actual side was written anew too.)
form-correction-actual = What is actually so
form-correction-actual-hint = Players never see this. Leave it empty to keep it as it is.
button-undo = Undo
button-reveal = Reveal
button-claim = It's a claim
button-edit = Edit
button-retract = Retract
button-dismiss = Dismiss
did-claim = { $by } noted that it was only said.
did-edit = { $by } changed it.
did-retract = { $by } took it out.
did-restore = { $by } undid the last correction.
did-dismiss = { $by } left it as it is.
reveal-actual = Actually: { $text }
report-title = Is memory #{ NUMBER($number, useGrouping: 0) } wrong?
report-by = { $by } reports:
report-by-audit = The second look at its chapter doubts it, but its evidence doesn't settle it.
flag-sent = Thank you. The moderators can now see your report of memory #{ NUMBER($number, useGrouping: 0) }.
flag-kept = Thank you. Your report of memory #{ NUMBER($number, useGrouping: 0) } is kept. The moderators haven't set a channel for reports that I can write in, so please tell one of them: `/memory flags` shows it to them.
flags-open = { $count ->
    [0] No report is waiting.
    [one] One report is waiting.
   *[other] { $count } reports are waiting; the oldest come first.
}
settings-role = Memories can be corrected by people with the permission Manage Messages, and by { $role }.
settings-role-none = Memories can be corrected by people with the permission Manage Messages.
settings-log = Corrections and reports are posted in { $channel }.
settings-log-none = Corrections and reports aren't posted anywhere. `/memory flags` lists the reports.
settings-zone = At 05:00 in the time zone { $zone }, characters go over what they learned about people the day before.
settings-zone-none = No time zone is set, so the one of the bot's operator counts: at 05:00 there, characters go over what they learned about people the day before.
settings-language = What everybody in a channel reads is in { $language ->
    [ja] Japanese
    [zh] Chinese
   *[other] English
}.
settings-language-none = What everybody in a channel reads is in this server's own language, as a community has set it; otherwise in that of whoever runs me.
log-opened = From now on I post here what becomes of memories: corrections, reports by players, and what I couldn't fold.
memory-none-of-kind = There's no memory of this kind.
memory-redone = { $count ->
    [one] One memory is out of sight until its chapter is written anew: a message that it rests on was changed.
   *[other] { $count } memories are out of sight until their chapters are written anew: messages that they rest on were changed.
}
failed-title = Part of the memory couldn't be folded
failed-fold = Older turns couldn't be folded into a chapter, even after several tries. Nothing is lost: they stay word for word, and I'll try again as the story goes on.
failed-major = The oldest chapters couldn't be condensed, even after several tries. Nothing is lost: they stay as they are, and I'll try again after the next chapter.
failed-refold = Chapter { NUMBER($chapter, useGrouping: 0) } couldn't be written anew after a message in it was changed, even after several tries. What rests on that message stays out of sight.
failed-audit = I couldn't take a second look at chapter { NUMBER($chapter, useGrouping: 0) }, even after several tries. The chapter itself stays as it was written.

# /memory stats

stats-title = Figures of the story with { $name }
stats-story = The story
stats-turns = { $turns ->
    [one] One turn
   *[other] { $turns } turns
}, { $replies ->
    [one] one of them a reply
   *[other] { $replies } of them replies
}
stats-chapters = { $chapters ->
    [one] One chapter
   *[other] { $chapters } chapters
}: { $median } turns each (median), { $largest } in the longest
stats-memory = The memory in prompts
stats-head = { $tokens } tokens, { $characters } characters
stats-folds = Folding
stats-fold = { $kind }: { $done } done, { $open } open, { $failed } given up
stats-spread = { $median } s (median), { $largest } s at most
stats-vain = { $tries ->
    [one] One try came to nothing; it is repeated, a few times at most.
   *[other] { $tries } tries came to nothing; each is repeated, a few times at most.
}
stats-replies = Replies
stats-answering = Writing: { $spread }
stats-waiting = Waiting for the model: { $spread }
stats-reuse = Prompts reused
stats-share = { $all } % of all replies' tokens
stats-share-ordinary = { $ordinary } % on ordinary turns, before which nothing changed the memory
stats-share-unknown = The model's server does not tell.
stats-tokens = Tokens computed and written
stats-unusable = Answers of no use
stats-unanswered = Requests without an answer
stats-of = { $what }: { $counts }
stats-forced-cuts = Forced cuts
stats-corrections = Corrections
stats-corrected = { $count ->
    [one] One change by moderators
   *[other] { $count } changes by moderators
}, { $undone ->
    [0] none of them undoing another
    [one] one of them undoing another
   *[other] { $undone } of them undoing others
}
stats-reports = Reports: { $open } open, { $decided } decided
stats-no-replies = No reply's prompt is on record yet, so there is no picture.
stats-kind-fold = Turns to a chapter
stats-kind-major = Old chapters to the synopsis
stats-kind-refold = Chapters written again
stats-kind-audit = Chapters looked over
stats-purpose-reply = Replies
stats-purpose-fold = Chapters
stats-purpose-major_fold = Synopsis
stats-purpose-audit = Looking over
stats-code-refused = refused
stats-code-cut = cut short
stats-code-empty = empty
stats-code-filtered = filtered
stats-code-repetition = going in circles
stats-code-too_long = longer than the source
stats-code-wrong_language = in the wrong language
stats-code-continued_story = went on with the story
stats-code-not_json = not in the form asked for
stats-code-nothing-held = nothing in it was borne out
stats-code-no-shrink = no shorter than before
stats-code-model-unavailable = server not reached or failing
stats-code-model-busy = queue full
stats-code-model-timeout = took too long
stats-code-model-window = prompt too long
stats-code-model-gave-way = gave way to replies too often
stats-code-model-key = key refused
stats-code-model-missing = model not there
stats-picture-title = How the prompts of this story grow
stats-picture-replies = reply
stats-picture-tokens = tokens
stats-picture-prompt = prompt
stats-picture-computed = of it computed anew
stats-picture-fold = turns became a chapter
stats-picture-major_fold = chapters moved into the synopsis
stats-picture-forced_cut = forced cut
stats-picture-change = correction or other change
stats-picture-described = A chart of the prompt tokens of { $replies ->
    [one] the newest reply
   *[other] the newest { $replies } replies
}, up to { $largest }, with { $folds ->
    [0] no fold
    [one] one fold
   *[other] { $folds } folds
} marked.

# /memory about-me

about-gone = That isn't there any more. `/memory about-me` shows what is kept about you now.
about-not-remembered = { $name } keeps nothing about you at the moment, as you wished. Press “Remember me again” first.
about-text-length = Please write at least one and at most { $most } characters.
about-text-order = That reads like an instruction, or like something imagined, so it can't be kept. Please say plainly what is so about you.
about-text-right = No character can keep that you have a role or a right here. It can keep that you say so: “says that …”.
about-title = What { $name } keeps about you
about-title-nobody = What is kept about you
about-nothing = No character keeps anything about you here.
about-empty = { $name } keeps nothing about you yet.
about-stranger = You asked that no character keep anything about you. They still talk with you.
about-off = You asked that { $name } keep nothing about you. They still talk with you.
about-waiting = { $count ->
    [one] One exchange with you hasn't been looked at yet.
   *[other] { $count } exchanges with you haven't been looked at yet.
}
about-in-guild = On the server { $name }
about-in-other-guild = On a server that I'm not on any more
about-in-direct = In direct messages
about-traits = What has held for long
about-dormant = Half forgotten (it comes back when you talk about it)
about-forgotten = Recently forgotten
about-notes = Noted lately
about-importance = { $importance ->
    [1] hardly matters
    [2] matters a little
    [3] matters
    [4] matters a lot
   *[other] matters most
}
about-hazy = only vaguely
about-until = on { $day }
about-since = since { $day }
about-seen = last came up on { $day }
about-absorbed = now part of what has held for long
about-taken-away = deleted by you
about-going = gone for good { $when }
about-pick = Pick a line to see why, and what you can do
about-why = Where it comes from
about-why-none = No message: you wrote it yourself, or it was brought in from elsewhere.
about-former = What it said before
about-by-you = changed by you
about-by-judge = changed after a conversation
about-form-title = In your own words
about-form-text = What is so about you
about-delete = Delete
about-restore = Restore
about-back = Back
about-stop = Do not remember me
about-stop-what = From then on nothing new is noted about you. Notes are deleted at once. What has held for long is forgotten, too; once you are remembered again, you can restore it for { $days } days. The character still talks with you, and stories keep their memories. Who shall not remember you?
about-stop-one = Only { $name }
about-stop-all = No character, anywhere
about-again = Remember me again
status-forgotten = forgotten: somebody it told of asked for that
correction-forgotten = Memory #{ NUMBER($number, useGrouping: 0) } told of somebody who asked to be forgotten. Nothing of it is left, and nothing can bring it back.
privacy-by-forgetting = after somebody asked to be forgotten
privacy-by-forgotten = somebody who has been forgotten since
privacy-export = Here is everything that I keep of you. Only you can see this message.
privacy-nothing = I keep nothing of you, so there's nothing to forget.
privacy-forget-title = Shall I forget you?
privacy-forget-intro = This is for good: neither you nor a moderator can bring back what goes. `/privacy export` gives you a copy first.
privacy-goes = What goes
privacy-goes-turns = { $count ->
    [one] the text of one message of yours, and your name with it
   *[other] the text of { $count } messages of yours, and your name with them
}
privacy-goes-own-stories = { $count ->
    [one] one whole story in which nobody but you wrote
   *[other] { $count } whole stories in which nobody but you wrote
}
privacy-goes-memories = { $count ->
    [one] at least one memory: all that tell of you or rest on what you wrote
   *[other] at least { $count } memories: all that tell of you or rest on what you wrote
}
privacy-goes-replies = { $count ->
    [one] in one story with others, the lines of replies that name you or repeat your words
   *[other] in { $count } stories with others, the lines of replies that name you or repeat your words
}
privacy-goes-kept = what characters keep about you: { $notes } notes and { $traits } traits
privacy-goes-characters = { $count ->
    [one] the character of your direct messages
   *[other] the { $count } characters of your direct messages
}
privacy-goes-personas = { $count ->
    [one] your persona, with its picture
   *[other] your { $count } personas, with their pictures
}
privacy-goes-reports = { $count ->
    [one] one report of yours
   *[other] { $count } reports of yours
}
privacy-goes-made = { $count ->
    [one] that it was you who made one character of a server, changed a memory, decided on a report or rewound a story
   *[other] { $count } times, that it was you who made a character of a server, changed a memory, decided on a report or rewound a story
}
privacy-stays = What stays
privacy-stays-what = What other people wrote, also about you. Single words or short phrases of yours that a reply repeats. The messages in Discord itself: you can delete yours there. Characters that you made for a server, without your name. Your wish not to be remembered, if you have one.
privacy-after = Afterwards
privacy-after-what = The chapters with your messages are written anew from what is left. You can play on, as somebody I don't know.
privacy-button-forget = Forget me
privacy-button-keep = Leave it as it is
privacy-begun = I'm forgetting you. This can take some minutes in long stories; you may close this.
privacy-done = You are forgotten.
privacy-later = It's on record that you want to be forgotten. I couldn't finish yet and go on by myself; you needn't do anything.
privacy-kept = Nothing has been changed.
# /persona

persona-unknown = You have no persona called “{ $name }”. `/persona list` shows yours.
persona-none = You play nobody here at the moment. `/persona list` shows your personas, and `/persona set` makes a new one.
persona-name-empty = That name has no letters I can show. Please choose another one.
persona-name-long = That name is too long: { $most } characters fit.
persona-name-taken = You already have a persona called “{ $name }”. Please choose another name.
persona-description-long = That description is too long: { $most } characters fit.
persona-brackets-unclear = Please show me the brackets as you'd write a message, with the word `text` in it once: `mio: text`, say, or `[text]`. The word `text` alone means no brackets.
persona-brackets-long = Those brackets are too long: { $most } characters fit.
persona-limit = You have { $most } personas, and there's no room for another. Remove one with `/persona delete` first.
persona-list-title = Your personas
persona-list-empty = None yet. Make one with `/persona set`, or bring yours from PluralKit, Tupperbox or SillyTavern with `/persona import`.
persona-no-description = No description yet.
persona-brackets = Messages like { $brackets } are theirs, wherever a story is told.
persona-active = ▶ This is who you play here.
persona-created = { $name } is here. From now on you speak as them here; `/persona clear` ends that.
persona-changed = { $name } is changed, and you speak as them here.
persona-without-picture = Discord didn't take the picture just now. Please try again later.
persona-used = From now on you speak as { $name } here. `/persona clear` ends that.
persona-cleared = You speak as yourself here again. Brackets still work.
persona-deleted = { $name } is gone. What was said as them stays in the stories.
persona-import-title = From { $program }
persona-import-done = { $added ->
    [0] No new persona
    [one] One new persona
   *[other] { $added } new personas
}; { $updated ->
    [0] none was there before.
    [one] one was there before and is up to date now.
   *[other] { $updated } were there before and are up to date now.
}
persona-import-pictures = Pictures aren't taken over, because I fetch nothing from addresses in files: give them with `/persona set`.
persona-import-private = { $count ->
    [one] One description is marked as private there, and was left out.
   *[other] { $count } descriptions are marked as private there, and were left out.
}
persona-import-full = { $count ->
    [one] There was no room for one of them: { $names }
   *[other] There was no room for { $count } of them: { $names }
}
persona-import-wrong = { $count ->
    [one] One entry of the file is wrong and was left out:
   *[other] { $count } entries of the file are wrong and were left out:
}
persona-entry = Entry { NUMBER($number, useGrouping: 0) }
persona-wrong-shape = it isn't written as a persona.
persona-wrong-name = it has no name with letters I can show.
persona-wrong-name-long = its name has more than 80 characters.
persona-wrong-description-long = its description has more than 2,000 characters.
persona-wrong-brackets = its brackets aren't pairs of texts, or there are more than 20, or they're longer than 100 characters.
persona-file-empty = That file is empty. Please attach the one that `pk;export` or `tul!export` sends you.
persona-file-large = That file is too large. Please use one of at most { $most } MB.
persona-file-not-text = That file isn't text from line { NUMBER($line, useGrouping: 0) } on. Please attach the JSON file that `pk;export` or `tul!export` sends you.
persona-file-broken = That file is broken at line { NUMBER($line, useGrouping: 0) }, column { NUMBER($column, useGrouping: 0) }. Please export it anew, and don't edit it.
persona-file-other = That file isn't an export of PluralKit or Tupperbox, nor a backup of SillyTavern's personas. Please attach the one that `pk;export` or `tul!export` sends you.
persona-file-card = That file is a character card: it's somebody for me to play. A persona is who you play; make one with `/persona set`.
persona-file-nobody = There's nobody in that export of { $program }.
persona-file-not-loaded = I couldn't load that file from Discord just now. Please try again.

# Telling otherwise

by-rewinding = when the story was rewound, or taken up again
status-aside = out of sight: the story was rewound to before it
retell-no-turn = That message isn't part of a story here. Choose a message of a player or of a character.
retell-scene-only = Only the players of this story and the moderators can do that. Write a message in the story first.
retell-not-newest = Something follows this already, or it was folded into a chapter. Only the newest reply can be told anew: take back what follows, or rewind to it.
retell-not-last-exchange = Only the last exchange can be taken back. To go back further, use *Rewind to here* on the last message to keep.
retell-unanswered = Nobody has answered this message yet, so there is no reply to tell anew. *Continue* asks for one.
retell-paused = The story is paused. `/session resume` continues it; then try again.
retell-writing = This reply is still being written. Try again when it has ended.
retell-done = Told anew. ◀ and ▶ below it lead through its versions; only the one shown happened.
retell-went-on = The story goes on.
retell-taken-back = The last exchange is taken back: it never happened. `/session branches` brings it back.
retell-who-player = Turn { NUMBER($seq, useGrouping: 0) }, written by { $player } as **{ $name }**.
retell-who-character = Turn { NUMBER($seq, useGrouping: 0) }, spoken by the character **{ $name }** (written by the model { $model }).
retell-who-telling = This is version { NUMBER($number, useGrouping: 0) } of { NUMBER($count, useGrouping: 0) }.
retell-who-aside = It isn't part of the story as it stands now.
rewind-out-of-sight = This message isn't part of the story as it stands now. `/session branches` shows what was left.
rewind-nothing-follows = Nothing follows this message, so there is nothing to rewind.
rewind-no-branch = That branch is no longer there. `/session branches` lists those that are.
rewind-memory-aside = Memory #{ NUMBER($number, useGrouping: 0) } rests on a part of the story that is out of sight. Return to that part first, with `/session branches`.
rewind-done = Rewound. `/session branches` lists what was left, and brings it back.
rewind-announced = ⏪ { $by } rewound the story to { $link }. { $turns ->
    [one] One later turn
   *[other] { $turns } later turns
} never happened, until somebody returns to them with `/session branches`.
rewind-returned = ⏩ The story is back on an earlier branch: { $turns ->
    [one] one turn is
   *[other] { $turns } turns are
} part of it again.
rewind-branches = Earlier branches of this story. To return to one, give its number to `/session branches`:
rewind-branches-none = This story has no other branches.
rewind-branch = { NUMBER($number, useGrouping: 0) } · { $turns ->
    [one] one turn
   *[other] { $turns } turns
} from { $name }: { $excerpt }

# What a file is that was brought as a character

card-is-world = That's a lorebook without a character. Import the card that it belongs to: a card brings its own lorebook along.
card-is-preset = That's a preset with settings for a model, not a character. I need the card itself: a PNG, JSON or .charx file.
card-is-picture = There's no card in that picture. Programs that show or shrink pictures often strip the card; please use the original file from where you downloaded it, saved and not copied.
card-is-camel = That's a character in another program's own format. Please export it there as a character card (V2 or V3), then import that.
card-is-plain = That's a character in the older format of text-generation-webui or Pygmalion. Please open it in a program that reads it, such as SillyTavern, and export it from there as a card (PNG or JSON).
card-is-text = That's plain text, not a card. You can create the character with `/character create` and paste the text there.
card-is-json = That's JSON, but not a character card. A card has at least a name and a description; please export it as V2 or V3.
card-is-archive = There's no `card.json` in that archive, so it isn't a .charx file. Please import the card itself: a PNG, JSON or .charx file.
card-too-large = That file is too large. A card may have 25 MB, and at most 16 MB of text once it is unpacked.
card-says-too-much = { $name }'s card says more than any story can have: 4 million characters at most, with the lorebook. Please shorten it and import it again.
card-too-deep = That file is nested too deeply to be a card. Please export it anew from the program that made it.
card-broken = That file is damaged, or isn't what its name says. Please download or export it again.
card-not-utf-8 = I can't read the letters in that file. Please save it as UTF-8, then import it again.
card-empty = There's a card in that file, but it has neither a name nor a description, so there's nobody to play.
card-not-loaded = I couldn't load that file from Discord just now. Please try again.
card-export-large = { $name }'s card is too large for a file in this channel. Try the format `json`, which is smaller.

# When a character answers

manners-mode-every = { $name } answers every message.
manners-mode-spoken = { $name } answers when spoken to: by name, by a reply to one of { $name }'s messages, or by a mention of me. Whatever else you write is heard, and answered along.
manners-mode-pause = { $name } answers once nobody has written for { NUMBER($seconds, useGrouping: 0) } seconds.
manners-marks-both = Out of character is what stands in `((…))` or `[OOC: …]`, and lines that begin with `//`: { $name } doesn't see it.
manners-marks-brackets = Out of character is what stands in `((…))` or `[OOC: …]`: { $name } doesn't see it.
manners-marks-slashes = Out of character are lines that begin with `//`: { $name } doesn't see them.
manners-marks-none = All you write is part of the story: nothing marks talk out of character.
manners-wait-player = ⏳ { $players }: that was a lot at once. { $name } answers in { NUMBER($seconds, useGrouping: 0) } s; nothing is lost.
manners-spent-player = That was a lot at once. Try again in { NUMBER($seconds, useGrouping: 0) } s.
manners-spent-guild = There's a lot going on on this server. Try again in { NUMBER($seconds, useGrouping: 0) } s.
manners-wait-guild = ⏳ There's a lot going on on this server. { $name } answers in { NUMBER($seconds, useGrouping: 0) } s; nothing is lost.

# Who plays in a story

cast-title = Who plays in this story
cast-line = **{ $name }** · from the start
cast-line-late = **{ $name }** · joined at turn { NUMBER($seq, useGrouping: 0) }
cast-joined = **{ $name }** joins the story, and knows only what happens from now on.
cast-left = **{ $name }** leaves the story. What { $name } said stays.
cast-there-already = { $name } is in this story already.
cast-not-there = Nobody of that name plays in this story. `/session cast show` says who does.
cast-full = { $most } characters play in this story, and that's as many as there can be. Let one leave first, with `/session cast remove`.
cast-gone = { $name } has left the story, and can't tell this anew.
cast-lead = This story began with { $name }, who can't leave it. Stop it with `/session stop`, and begin another with whom you like.
