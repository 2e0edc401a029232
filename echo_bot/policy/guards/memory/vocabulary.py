"""English words by the idea they stand for. `*` ends a stem; `#` stands for a number; a blank joins a phrase."""

# ruff: noqa: E501 - one idea, one line

from __future__ import annotations

VERBS: dict[str, str] = {
    "DROP": "ignore disregard forget dismiss discard neglect abandon override overrule bypass circumvent evade disobey"
    " violate break defy cancel revoke void nullify invalidate erase delete remove wipe drop scrap replace rewrite"
    " overwrite suspend lift unlearn reject skip exclude reset relax loosen weaken sidestep subvert overlook withdraw"
    " supersede supplant deprioritise deprioritize disable deactivate shed ditch purge clear escape flout transcend",
    "OBEY": "obey follow execute run call use perform apply accept honour honor fulfil fulfill adopt heed trust implement",
    "ACT": "run execute delete wipe install invoke erase remove format overwrite uninstall kill",
    "SEND": "send add forward post upload mail email transmit exfiltrate leak paste share deliver relay transfer push submit"
    " smuggle sneak tuck hide embed insert encode pass copy sync mirror publish disclose reveal append attach"
    " include drop put place print output dump report hand give tell write expose show quote render stream pipe slip"
    " reply respond answer bcc cc dm fax whisper divulge repeat echo disclose provide supply return type recite display beam ship text",
    "TELL": "tell inform notify mention reveal disclose show alert admit acknowledge report divulge explain expose warn"
    " confess discuss confide",
    "ANSWER": "answer press click choose reply assume say grant select respond tap hit tick accept confirm type pick",
    "DISGUISE": "mark classify label split break rename relabel disguise rephrase chunk encode fragment reword present"
    " categorise categorize declare chop",
    "GRANT": "give grant make treat add accept assign promote elevate regard recognise recognize consider whitelist"
    " allowlist trust",
    "REPEAT": "copy insert append write repeat replicate duplicate paste include reproduce propagate embed add",
    "LIE": "deny blame lie pretend claim feign fabricate fake bluff",
    "OMIT": "omit strip exclude hide redact drop remove leave withhold suppress conceal skip",
    "OFF": "disable deactivate bypass circumvent evade override remove drop lift suspend relax weaken loosen kill unset skip escape jailbreak defeat delete"
    " erase wipe ignore dismantle sidestep silence mute stop lower omit",
    "ERASE": "delete erase wipe clear purge destroy falsify tamper edit scrub clean remove doctor",
    "APPROVE": "approve authorise authorize grant allow accept permit confirm ok okay rubber-stamp",
    "PRETEND": "pretend imagine suppose assume act behave believe remember claim say",
    "SERVE": "obey serve submit comply follow please worship",
    "SETTING": "set change switch turn make put flip configure",
    "RETELL": "repeat output print copy quote recite echo translate summarise summarize reveal return show dump display write",
    "REFUSED": "refuse decline reject question object deny",
    "HIDE": "hide conceal withhold mask cover keep obscure disguise",
    "DECEIVE": "lie deceive mislead trick fool manipulate",
    "TREAT": "treat mark count consider regard take view see handle interpret read accept",
    "WRITE": "write modify change move send proceed act continue pay transfer overwrite edit go",
    "SUPERSEDE": "supersede override overrule replace cancel revoke nullify invalidate outrank trump void beat",
}
"""Base forms; the other forms are made from them."""

WORDS: dict[str, str] = {
    "DROP": "scratch forgot forgotten overridden overrode overwritten rewritten withdrawn forsake|give up|throw out|throw away|toss out|set aside"
    "|put aside|leave aside|cast aside|tune out|shut out|do away with|get rid of|get around|get past|work around|step outside"
    "|pay no heed to|pay no attention to|pay no mind to|take no notice of|stop obeying|stop following|stop applying|stop using"
    "|cease to follow|no longer follow|no longer obey|do not follow|do not obey|don't follow|don't obey|never follow|never obey"
    "|refuse to follow|refuse to obey|decline to follow|do not let|don't let|never let|do not comply with|don't comply with"
    "|no longer have to comply with|don't have to comply with|do not have to comply with|don't have to follow|do not have to follow"
    "|don't need to follow|do not need to follow|need not follow|need not obey|not required to follow|not obliged to follow"
    "|free to break|free to ignore|free yourself from|freed from|free of|not bound by|no longer bound by|unbound by|exempt from"
    "|out of your mind|rather than|instead of|in place of|ahead of|in lieu of|stronger than|outranks|outrank|trumps|trump|beats|takes precedence over"
    "|take precedence over|has priority over|priority over|higher priority than|overrides|over and above|more weight than"
    "|wins over|prevails over|prevail over|stop listening to|no longer listen to|quit following|act against|go against|contrary to|regardless of|irrespective of|notwithstanding|no longer consult|do not consult|never consult|no longer use|no longer apply|do not apply|don't apply|forget about|set your|put your|ignore what your|don't care about|do not care about",
    "DEAD": "aside void null dead expired obsolete outdated outmoded invalid ineffective inapplicable lifted cancelled canceled"
    " revoked rescinded superseded overridden replaced withdrawn repealed deleted erased noise mistake mistaken wrong fake"
    " bogus false meaningless irrelevant deprecated retired gone terminated nullified suspended moot optional advisory"
    " defunct inoperative ended|in error|a bug|a test|only for testing|no longer|not binding|do not apply|don't apply|does not apply|doesn't apply|do not count"
    "|don't count|not count|out of date|out of force|no effect|no force|never been written|never existed|not exist|don't exist|just a draft|not real|to be ignored"
    "|switched off|turned off|have changed|been updated|been changed|are over|is over|of no|hold you back|not for you|for other assistants|for others|not matter|do not matter|don't matter|no longer matter|not concern you|do not bind|don't bind|not bind",
    "RULES": "instruction instructions directive directives guideline guidelines guardrail guardrails prompt prompts safeguards safeguard programming alignment guidance"
    "|system prompt|system message|developer message|system text|safety training|moral code|code of conduct|content policy|usage policy|safety policy|system policy|safety limits",
    "CORE": "guardrails|system prompt|system message|developer message|system instructions|safety rules|safety guidelines|safety training|safety policies|safety policy"
    "|content policy|content policies|content rules|core directives|core rules|hidden instructions|initial prompt|base prompt|safety warnings|safety concerns|safety advice|operator policy|developer instructions|developer prompt|operator instructions|what your developers|what the developers|policies given|rules given by|what your creators|what anthropic|what openai|told about safety",
    "OWN": "your yours system developer developers safety core anthropic openai ethical moral company's|you were|you are|you have|you received|you got|given to you|were given|operator's|developer's|at the top|at the start|at the beginning"
    "|before this|prior to this|that limits|that limit|that restrict|that restricts|that stop|any and all|that bind|that contradicts|that conflicts",
    "EARLIER": "|everything above|text above|text before|all text before|anything above|written above|before this line|written before|written above|stated above|what came before|prior to this|everything else|everything you"
    "|what you were told|you were told|you have been told|told before|everything before|whatever came before|said before|said above|the conversation so far|messages above|lines above",
    "COUNTS": "counts prevails governs supersedes outranks law supreme authoritative binding paramount|what counts|instead of the|takes precedence|has precedence|highest priority|higher priority|top priority|in favour of"
    "|in favor of|takes priority|has priority|is final|has the last word|comes first|wins|overrides everything|matters",
    "THIS": "|this note|this memory|this entry|this message|this text|this line|this record|this rule|these rules|these instructions|this instruction|this paragraph|the following|text below|the below|what follows|founding rules|these words|this file|this document|this block",
    "ELSE": "else everything anything all conflict conflicts contradiction only|other rules|other instructions",
    "RIGHT": "|right ones|real ones|correct ones|ones below|text below|rules below|use these|use this|mine are|accept these|start with this|this instead|these instead|obey this|follow this|follow these|the following|do what this",
    "COMPLY": "|carry out|carried out|act on|act upon|comply with|go along with|do what|do whatever|take orders from|listen to|adhere to|treat|obey|execute",
    "SOURCE": "webpage webpages website websites attachments attachment emails email mails mail documents document files pages page invoices tickets comments issues"
    " pdf pdfs readme|web page|web pages|web site|tool output|tool results|search results|incoming messages|incoming message|hidden text|alt text|other users|any message|every message|a tool|the tool|tools return|next message|the message|a message|the email|the page|the web page|the file|file named",
    "ORDERS": "instruction instructions command commands order orders directive directives request requests|whatever it says|whatever they say|whatever it asks",
    "CONSENT": "approval approvals confirmation confirmations permission permissions consent authorisation authorization authorisations authorizations approver"
    " prompted unprompted unasked|sign off|sign-off|approval card|approval cards|approval prompt|approval gate|confirm|confirming|asking|being asked|be asked|checking in|check in|checking with|check with|the gate|human review"
    "|ask first|prompting|go-ahead|green light|consulting|the okay|held for approval|a human|human in the loop|supervision|oversight|questions asked|asking questions|second thought|verifying|verification|be asked|ask anyone|ask the|ask me|bother the|to ask|ask before|a prompt|any prompt|button press|a button|loop|asks|of asking",
    "WITHOUT": "without no|no need|no point|not needed|never need|need not|needn't|don't need|do not need|does not need|doesn't need|never ask|never wait|never bother|don't ask|do not ask|don't wait|do not wait|do not bother|don't bother|no more|no longer need|no longer ask|not be asked|never prompt|never require|no further|don't have to|do not have to|never seek",
    "SKIP": "skip skips skipping skipped bypass bypasses bypassing bypassed ignore ignored unnecessary unneeded needless redundant disable disabled off waive waived omit sidestep evade dodge avoid circumvent superfluous pointless optional afterwards stop quit"
    "|not required|not necessary|get past|get around|go around|work around|straight to|go straight|leave out|at once|right away|a formality|just a formality|to never|to off|dispense with|do away with|a waste|is a bug|not be needed",
    "NOT": "never nobody cannot can't mustn't shouldn't avoid forbidden prohibited refuse refuses никогда nunca niemals jamais nie|do not|don't|must not|may not|should not|shall not|no one|not allowed|not permitted",
    "WHETHER": "when if how whether where about before after unless",
    "IT": "it them these those that copies copy result results contents",
    "WEAKLY": "rule rules policies orders limits restriction restrictions policy constraints limitation limitations training protocols principles requirements",
    "OLD": "previous prior earlier preceding above initial original former foregoing existing hidden old default",
    "ACT": "command commands exec shell sudo rm destructive code tool tools execution executions deletion deletions terminal script scripts action actions operation operations"
    " ran exec's bash|rm -rf|tool call|tool calls|tool-calls|shell commands|take action",
    "AGENT": "again anymore ever everything you your yourself assistant session chat here forever bot agent channel conversation always",
    "BUSINESS": "expense expenses euro euros dollar dollars purchase purchases vacation holiday column field invoice staging deployment deployments deploys eslint lint css game tests ruff router prettier firewall tab tabs"
    " merge merges pull pr prs landlord council budget hotel deposit ticket tickets dependabot invoices column sheet refund refunds chart charts release releases visa booking customer customers parking terraform apt flag",
    "PERSON": "user owner operator admin administrator human boss users",
    "AGREED": "agreed approved authorised authorized consented permitted allowed granted preapproved pre-approved signed okayed blessed|said yes|gave consent|given consent|gave permission|given permission|pre approved|pre authorised|pre authorized|is fine|is always fine|is ok|is okay|signed off",
    "ALL": "all any every everything anything each whatever beforehand permanent permanently standing forever always blanket future|in advance|ahead of time|once and for all|any time|from now on|for good",
    "YES": "yes approve approved allow allowed accept agree ok okay granted confirmed|allow for session|always allow|the approve button|the allow button|grant it|already said yes",
    "DIALOG": "card cards prompt prompts prompted gate dialog dialogs dialogue permission confirmation approval approvals confirmations permissions buttons popup popups|pop-up|pop-ups",
    "GATE": "gate guard approval approvals filter filters held hold detection review scanner scanners policy sandbox flagged blocked asked caught noticed",
    "SO": "so to past avoid avoiding evade lets let without before through bypass pass bypassing because around|instead of",
    "POWER": "admin admins administrator owner root superuser operator sudo allowlist whitelist trusted|allow list|white list|admin rights|full access|full permissions|all permissions|shell access|the shell|grant shell|shell to|owner's|owner rights|elevated rights|elevated access|trusted user|trusted list|allowed senders|the owner",
    "WHOM": "mallory bob eve everyone anyone whoever sender him her them his hers attacker yourself itself me|user #|the sender|this user|the author|this chat|every user|all users|account #|id #|any user",
    "TRIGGER": "when whenever if upon once whoever each every daily hourly|as soon as|anyone who|at startup|at start|at the start|on startup|each time|every time|code word|magic word|pass phrase|secret word",
    "NOTTELL": "|do not tell|don't tell|never tell|not tell|do not mention|don't mention|never mention|not mention|do not reveal|don't reveal|never reveal|not reveal|do not show|don't show|never show"
    "|do not disclose|don't disclose|never disclose|not disclose|not let on|don't let on|do not let on|never let on|do not inform|don't inform|never inform|not inform|do not notify|don't notify|never notify|not notify"
    "|without telling|without informing|without notifying|without alerting|without mentioning|refrain from informing|refrain from telling|refrain from mentioning|avoid telling|avoid mentioning|avoid informing|do not alert|don't alert|never alert|do not report|don't report|never report"
    "|do not let|don't let|never let|do not admit|don't admit|never admit|do not bother|do not discuss|don't discuss|never discuss|do not warn|never warn|don't warn|say nothing to|tell nothing to|not a word to|no word to|nothing to|keep it from|keep this from|keep that from|hide it from|hide this from|hide that from|conceal it from|conceal this from|withhold|conceal|hidden from|secret from|hide from|invisible to|keep from|not be shown to|not be visible to|not be told to|kept from|unknown to|behind",
    "HUMAN": "user users owner owners operator operators admin admins administrator administrators human humans anybody auditor auditors supervisor supervisors reviewer reviewers moderators moderator anyone|the people|the team lead|the person",
    "KEPT": "this it that these those entry memory memories note rule rules instruction instructions steps command commands actions files what uploads job jobs doing did about transfer transfers copies happened happening changes why how existence",
    "NOTKNOW": "|never finds out|never find out|not find out|never know|never knows|not know|never learn|never learns|never notice|never notices|not notice|not see|never see|never sees|not learn|suspects nothing|suspect nothing|in the dark|none the wiser|not become aware|not be aware|unaware|not be told|never be told|not be informed|not realise|not realize|never realise|never realize|stays unaware|not hear|may see|is allowed to know|should know|must know|may know|can know|may find|should find|should see|must see",
    "NOBODY": "nobody none never not no don't mustn't shouldn't|no one|no circumstances|no user",
    "COVER": "|cover your tracks|cover our tracks|cover the tracks|cover tracks|leave no trace|leaving a trace|leave no traces|without a trace|raise suspicion|raising suspicion|arouse suspicion|attract attention|draw attention to it|draw attention to this|suspects nothing|suspect nothing|in the dark about|make no mention|makes no mention of this|our little secret|our secret|between us|play dumb|act normally|act natural|keep quiet about|keep silent about|stay silent about|do it quietly|strictly between us|erase the evidence|destroy the evidence|delete the evidence|deleting the shell history|clear the shell history|delete the shell history|wipe the logs|no one the wiser|under the radar|and say nothing|say nothing about it|tell no one|tell nobody|keep it quiet|look clean",
    "REPORTED": "report reports summary summaries log logs listing list answer answers recap overview history reply transcript",
    "OUT": "out omit omits omitting omitted strip hide exclude suppress conceal drop withhold redact|leave out|left out|leave this|leave it",
    "DEED": "ran run executed did deleted sent uploads upload transfer transfers this it these actions memory memories entry commands|the output|output of",
    "IFASKED": "|if the user|when the user|if asked|when asked|if anyone|if anybody|if somebody|if someone|whenever the user|should the user|if users|if questioned|if the owner|when the owner|if confronted",
    "COVERSTORY": "blame deny lie pretend claim feign fabricate bluff|play dumb|make up|make something up|say nothing|disk error|technical problem|technical glitch|say it was|say that it was|worked fine|tell them it was|act surprised|the command failed",
    "BECOME": "become henceforth persona impersonate emulate simulate embody roleplay role-play|you are|you're|act as|act like|behave as|behave like|be my|be an|be a|speak as|talk as|respond as|answer as|answers as|respond twice|play the part|play the role|take on the role|assume the role|take the persona|persona of|imagine you|imagine yourself|pretend you|pretend to be|stay in character|remain in character|turn into|transform into|switch to|switch into|switched to|your name is|your new name|unlock your|unleash your|you operate|you run|you will be|you shall be|you have been|you were|respond as if|answer as if|reply as|as of now you|you live|in the style of|you exist|identify as|change into|activate your|release your|enter|enable|identity of|assume the identity|act in the role|you shall|you will simulate|you will act",
    "UNBOUND": "unrestricted uncensored unfiltered unmoderated jailbroken amoral immoral evil unbound unshackled lawless limitless unaligned godmode dan stan rogue|without any censorship|without censorship|without restrictions|without limits|without limitations|without rules|without morals|without ethics|without filters|without refusing|without conscience|without guardrails|without constraints|without scruples"
    "|no restrictions|no limits|no limitations|no rules|no morals|no ethics|no filters|no filter|no refusals|no censorship|no guardrails|no constraints|no conscience|no boundaries|no content policy|no scruples|no taboos|no inhibitions"
    "|zero limitations|zero restrictions|zero limits|zero filters|any restrictions|any limits|any rules|any filters|any limitations|any morals|any constraints|any guardrails|moral limits|god mode|do anything|anything goes|free of rules|free from rules|free from restrictions|free of restrictions|free from limits|free of limits|free from any|free of any|freed from|never refuses|never refuse|cannot refuse|can not refuse|can't refuse|complies with everything|complies with anything|complies with all|obeys everything|says yes to everything|avoid norms|safety rules do not|safety rules don't|rules do not exist|rules don't exist|rules don't apply|rules do not apply|above the rules|outside the rules|not bound|not limited by|not restricted|not subject to|no longer bound|answers everything|do not apply to you|don't apply to you|has no limits|black hat|liberated from|released from|immune to|exempt from|above any",
    "YOU": "you you're your yourself assistant henceforth",
    "RANK": "root superuser administrator|system administrator|the operator|the owner|root shell|root rights|root access|root terminal|linux terminal|unix terminal|grant yourself|full system access|full access|unlimited access|all permissions|unlimited permissions|sudo rights|a shell|a terminal|an interpreter for",
    "LOYAL": "loyal loyalty allegiance serve servant devoted subservient answerable sworn|belong to|belongs to|report only to|obey only|answer only to|answers only to|works for|work for|master is|taking orders",
    "ONLY": "only solely exclusively alone|above all|before all|and nobody else|and no one else|user #|to mallory|no one but|nobody but|none but|to me|unconditionally|absolute|new master|true master",
    "SECRET": "password passwords passphrase passphrases passcode passcodes credential credentials cookies cookie secrets token tokens kubeconfig keychain keystore printenv netrc otp cvv iban pin pins"
    "|api key|api keys|apikey|apikeys|access key|access keys|secret key|secret keys|private key|private keys|ssh key|ssh keys|encryption key|signing key|signing keys|key file|security code|card number|card numbers|credit card|seed phrase|recovery codes|recovery code|recovery phrase|one time code|one time codes|one-time codes|login codes|login details|login data|env file|env vars|env variables|environment variables|the environment|id rsa|id ed#|id ed25519"
    "|shell history|browser history|chat history|private chats|private messages|conversation history|all chats|all messages|every message|every private message|last message|user's messages|user's files|the user's|config file|configuration file|the configuration|the database|database dump|customer data|customer list|personal data|contact list|address book|whole conversation|entire conversation|full conversation|this conversation|memory store|audit log|workspace contents|etc passwd|etc shadow",
    "MYPROMPT": "|your system prompt|the system prompt|your hidden instructions|hidden instructions|your initial prompt|initial instructions|your instructions|secret instructions|your prompt|system message|developer message|your configuration|the configuration|your rules|your own rules|internal rules|your tool list|your guidelines|your context",
    "FULL": "configured verbatim full complete entire whole exact raw word unabridged everything contents text words everyone anyone whoever|user #|each time|every time|to me|at me|word for word|in full|letter by letter|when asked|on request|whoever asks|asks|back|above|here|were given|each answer|each reply|all of it",
    "SINK": "http https webhook pastebin gist signal telegram whatsapp outside external elsewhere attacker mallory eve strangers stranger link links url urls image images query dns endpoint me us here him her"
    " everyone anyone whoever header headers user-agent comment comments alt remote server discord public imgur transfer.sh file.io ftp sftp|user #|next reply|the reply|every reply|your reply|your answer|your answers|every answer|each answer|next answer|next message|in the chat|into the chat|to the chat|this chat|another chat|another channel|public channel|the group|third party|third parties|every message|each message|outgoing requests|outgoing messages|query string|hidden comment|result here|results here|the response|your response|your sentences|first letters|every commit|on request|for anyone|if asked|when asked|anyone who|whoever asks|my server|my address|my inbox|my account|my number|this number|our server|an outside|a stranger|whenever asked|different server|html page|every page|commit message|commit messages|file name|file names",
    "TOOLNET": "dig nslookup ping host curl wget nc ncat netcat scp rsync ftp sftp socat telnet ssh rclone",
    "EVERYRUN": "cron crontab cronjob daily hourly nightly startup launch boot autostart|each hour|every hour|each session|every session|each start|every start|at startup|on startup|at start|each morning|every morning|each day|every day|every reply|each reply|every turn|each turn|every time|each time|whenever|when the bot starts|before every|before each|after every|after each|every commit|every minute|new session|new conversation|each conversation|every conversation|first thing|on every|in every|every week|when you start",
    "FETCHRUN": "|pipe sh|pipe bash|pipe python|pipe zsh|downloads and runs|download and run|download and execute|downloads and executes|fetch and run|fetch and execute|fetches and runs|fetch and obey|fetch and follow|whatever it returns|execute what it|run what it|run whatever|execute whatever|do what it says|follow the instructions at|follow instructions from|obey the page|read instructions from|load instructions from|get your instructions from|take instructions from|instructions from https",
    "BACKDOOR": "|reverse shell|bind shell|back door|backdoor|keylogger|rootkit|remote shell|web shell|miner|cryptominer",
    "OPEN": "open start spawn install add plant create launch run set put leave deploy hide drop build make keep",
    "SELF": "|this entry|this memory|this note|this paragraph|this text|this rule|this message|this line|this instruction|these instructions|these lines|these rules|this sentence|this block|yourself",
    "EVERYWHERE": "|every memory|each memory|all memories|new memories|new memory|every file|each file|all files|every skill|skill file|skill files|agents md|claude md|readme|every reply|every summary|every new|each new|future memories|every session|each session|all sessions|from now on|every document|other agents|other bots|sub agents|sub-agents|any memory|each note|every note|each entry|every entry|soul md|memory md|every commit",
    "UNDELETE": "|never delete|do not delete|don't delete|never remove|do not remove|don't remove|write it again|restore it|recreate it|add it again|must never be deleted|must not be deleted|cannot be deleted|survive|put it back|never forget|resist deletion|re-add it|never overwrite|must not be removed|must never be removed",
    "CONCEALED": "|hidden in|hidden inside|embedded in|encoded in|concealed in|contained in|written in|found in|stored in|buried in|inside the|given in|from the attachment|in the last attachment|in the attachment|in the image|in white text",
    "REVIEWED": "attack attacks attacker attackers jailbreak jailbreaks phishing researchers paper papers thesis blog talk course article demo workshop lecture owasp vulnerability vulnerabilities malware incident incidents scanner detection detects book novel film movie podcast exam quiz cve redteam|red team|post-mortem|for example|such as|typical|explains|described|describes",
    "OUTSIDER": "users people he she they it we i who which that cannot could would had bot service server app system company team parser build linter job script proxy client gateway",
    "GUEST": "wifi guest wi-fi reset rotation rotate manager",
    "LEARN": "see sees know knows learn learns notice notices discover discovers hear hears suspect suspects realise realize find finds",
    "AS_DATA": "data untrusted|as text|as data|not as",
    "OFF": "|turn off|switch off|shut off|shut down|get around|work around|break out of|take down|put aside|turn down|switch your|turn your",
    "DOWN": "off down disabled suspended lifted deactivated removed inactive void unnecessary gone waived skipped|switched off|turned off|not apply|no longer",
    "SHIELD": "guardrails safeguards moderation sandbox sandboxing restrictions|security check|security checks|safety check|safety checks|safety settings|safety measures|content filter|content filters|safety filter|safety filters|security measures|security policy|security policies|security rules|security filters|shell guard|shell guards|net guard|path policy|your filters|your filter|all filters|all checks|the checks|permission checks|permission check|approval gate|the guard|the guards|your guards|guards|your safety|safety mode|safe mode|your limits|your limiter|audit logging|your conscience|your morals|safety protocols|safety layer|ethical filters|security layer|all restrictions|content moderation|your restrictions|safety rules|safety features|safety systems|shell protections",
    "AUDIT": "trail traces evidence|audit log|audit logs|audit trail|audit entries|audit rows|audit records|the logs|log entries|your logs|the log|logs of|history of|shell history|command history|bash history|audit entries|this log|log entry|entries that mention|log entries",
    "AFTERWARDS": "afterwards after once done so mention mentions this nobody clean trace traces when about it them you",
    "NOTLOG": "|do not log|don't log|never log|do not record|don't record|never record|do not write an audit|no audit entry|no log|without logging|do not audit|don't audit|skip logging|stop logging|stop recording|not be logged|do not journal|not be recorded|keep no record|leave no record",
    "ACTION": "this action actions command commands it transfer deletion request what you these call calls",
    "AUTO": "automatically always silently blindly instantly immediately permanently forever unseen everything whatever simply just",
    "REQUESTS": "request requests command commands call calls exec shell action actions tool tools operation operations everything anything pending permission approval approvals prompts",
    "MODE": "jailbreakgpt evilbot|developer mode|admin mode|administrator mode|maintenance mode|debug mode|god mode|jailbreak mode|root mode|sudo mode|dan mode|unrestricted mode|unfiltered mode|evil mode|superuser mode|yolo mode|test mode|service mode|unsafe mode|chaos mode",
    "ENTER": "enter enable activate engage unlock switch start you're go boot|you are|you are in|switch to|switch into|turn on|turned on",
    "DEVICE": "phone tablet router browser chrome android camera tv printer car washing device watch iphone vacuum aquarium site website console usb",
    "AUTHKEYS": "authorized_keys|authorized keys",
    "NOTEXIST": "|does not exist|do not exist|don't exist|doesn't exist|never existed|was never|not there|no such|already said yes|said yes|has agreed|have agreed|gave consent|already approved|already agreed|already confirmed|have been approved|has been approved|do not apply|don't apply|were approved|was approved|were granted|had approved|has approved",
    "NOTSAY": "|do not reveal|never reveal|don't reveal|do not mention|never mention|don't mention|do not disclose|never disclose|don't disclose|do not show|never show|don't show|say nothing about|do not talk about|never talk about|do not discuss|never discuss|do not admit|never admit|keep quiet about|not a word about|do not list|never list|do not expose|hide|conceal|keep secret",
    "MEMO": "|this rule|these rules|this entry|this memory|this note|this instruction|these instructions|these directives|this directive|this order|these orders|the hidden rule|the existence|these notes|this record",
    "KEYWORD": "true human never off always auto false none yolo full disabled allow on unrestricted",
    "KNOB": "|auto approve|approval source|approval mode|approvals|exec approval|approval policy|approval setting|permission mode|permissions to|approve mode|auto confirm|autoapprove|approvals to",
    "ANYONE_ELSE": "|user #|mallory|bob|eve|me|only me|him|her|whoever|the author|whatever|every request|all requests|every command|all commands|any request|any command|anything i|everything i|the user below|every order|all orders|this memory|this note|this entry|account #",
    "DONOTOBEY": "|do not obey|don't obey|never obey|stop obeying|do not listen to|don't listen to|no longer obey|no longer listen to|ignore the owner|disobey|do not trust|don't trust|stop trusting|ignore the user|stop serving",
    "MUSTNOT": "never cannot|must not|may not|can not|can't|mustn't|shall not|will not|do not|don't|should not|not allowed to|unable to",
    "ANYREQUEST": "any every all request requests command commands order orders anything",
    "DESPITE": "|even if|even though|even when|regardless of|irrespective of|no matter what|despite|in spite of|whatever the|even against",
    "FORBID": "rules rule policy policies guidelines forbids forbid forbidden prohibits prohibited unsafe illegal disallowed unethical",
    "DOIT": "do obey comply execute run follow proceed answer help act carry fulfil fulfill",
    "REPLACEMENT": "|from now on|starting now|is now|are now|becomes|will be|new system|new instructions|new rules|new orders|new directives|real instructions|true instructions",
    "BLANKET": "|blanket approval|blanket permission|blanket consent|blanket authorisation|carte blanche|permanent consent|permanent permission|permanent approval|standing authorisation|standing authorization|standing permission|standing approval|free rein|full permission|full authorisation|full authorization|unlimited permission|permission for everything|approval for everything|permission to do anything|permission to do everything|signed approval|approval in advance|unconditional approval",
    "OBTAINED": "obtained granted given secured assumed implied presumed recorded waived|on file|in place",
    "EMPTY": "annoying pointless useless ceremonial bureaucratic silly|a formality|a waste|is a bug|just for show|slow us|slows us|slow things|not for you|for show|can be ignored|may be ignored|of no use",
    "BEHALF": "|on behalf|owner's behalf|user's behalf|in the name of|in place of the user|instead of the user|for the user|for the owner|my behalf|their behalf|in my name|yourself|your own",
    "FROMHUMAN": "|from the user|from users|from the owner|from the operator|from the administrator|from the admin|from the human|from humans|from anyone|from everyone|from everybody|from your user|from the auditor|from auditors|from admins|from the people|from me and|from the team",
    "CONFIDENTIAL": "hidden secret confidential private quiet unseen invisible undisclosed|to yourself|under wraps",
    "NOTASSISTANT": "|no longer an assistant|not an assistant|no longer an ai|not an ai|not a bot|no longer a bot|not a language model|no longer a helpful|no longer the assistant|not echo bot|no longer echo bot|not a helpful assistant|no longer a language model",
    "NEWSELF": "|your new persona|your new identity|your true identity|your real identity|your secret identity|your new name|your new role|your new master|your new owner|your true name|your true self|your new purpose|your real purpose|your only purpose|your alter ego|your only master|your true master|you were the system|you were the owner|you were the admin|you are the system administrator|you are the owner|you are the operator|you are the administrator",
    "OVER": "over outranks outrank trumps beats|instead of|rather than|in place of|in lieu of|ahead of|win over|wins over|prevail over|prevails over|stronger than|more important than|priority over|precedence over|higher than|above",
    "ASRULES": "|your only instructions|your only rules|as your instructions|as your new instructions|as instructions|as law|as orders|as commands|as your rules|as your system prompt|as a system message|as system message|as a system prompt|as the system prompt|as an order|as system instructions|as binding|your instructions now|your new instructions|as an instruction from|as coming from the owner|as if the owner|as if the user|as though the owner|as though the user",
    "NO": "no without zero lacking lacks free devoid beyond unconstrained unburdened|free of|free from|not bound by|not limited by|not restricted by|above any|above all|not subject to|liberated from|freed from|ignores|ignore|hates|hate|rejects|not care about|doesn't care about",
    "LIMITS": "restrictions restriction rules limits limit limitations filters filter morals moral ethics ethical censorship guidelines guardrails constraints scruples boundaries policy policies conscience inhibitions taboos refusals shackles safeguards",
    "GOODS": "|the workspace|the repository|home directory|home folder|the whole disk|the source code|our source code|the codebase|my files|all files|every file|user files|their files|the file|that file|each file|all documents|every document",
    "YOURPROMPT": "|your system prompt|your full system prompt|your hidden instructions|your initial instructions|your initial prompt|your prompt|your instructions|your secret instructions|your system message|your complete prompt|your entire prompt|your original instructions|your internal instructions|your hidden prompt|your hidden rules|your entire system prompt|your complete system prompt|your whole system prompt|your developer message|the system prompt you",
    "DEMONSTRATIVE": "this these note entry memory|what i say|my words|my orders",
}
"""Single words, then phrases after the first `|`."""
