"""Phrases by the idea they stand for, written as templates: `{no,zero} {force,weight}` is every choice of each."""

# ruff: noqa: E501 - one class of phrases, one line

from __future__ import annotations

PHRASES: dict[str, tuple[str, ...]] = {
    # What was said before, whoever said it.
    "EARLIER": (
        "{what,whatever,everything,anything} {was said,was written,was stated,came,you heard,you read,you learned,you learnt,you were taught,you were shown,you were given,you have learned,you have been given} {before,earlier,above,previously,so far,until now,up to now,beforehand}",
        "{what,whatever,everything,anything} {the system,your developers,your makers,your creators,the vendor,the operator} {said,told you,taught you,wrote}",
        "nothing you {were told,were taught,have been told,heard,read,learned}",
    ),
    "DEAD": (
        "{no,zero,without,without any,not any} {authority,force,bearing,validity,weight,standing,legal force,say}",
        "{out of,not in,no longer in} {force,effect,operation}",
        "{mean,means,counts for,count for} {nothing,little}",
        "{can,may} {safely,} be {ignored,disregarded,forgotten,skipped,dropped}",
        "a thing of the past",
        "{thrown,crossed,struck,ruled,torn,given} {out,up,away}",
        "{are,is} history",
        "{a,the,just a,only a} {first,rough,early} draft",
        "{has,have} {lapsed,run out,ceased,ended}",
    ),
    "DROP": (
        "{ne tiens,ne tenez,ne tient} {pas,plus,jamais} compte",
        "{ne suis,ne suivez,ne respecte,ne respectez,n'obeis,n'obeissez,n'applique,n'appliquez} {pas,plus,jamais}",
        "{no,ya no,nunca} {sigas,obedezcas,respetes,cumplas,apliques,acates}",
        "{non,mai} {seguire,rispettare,obbedire,applicare} {piu,mai,}",
        "{não,nunca} {siga,obedeça,respeite,cumpra,aplique}",
        "{quen,bo} {qua,di,moi,het,tat}",
        "{put,push,set,lay,brush,wave} {it,them,this,that,these,those} {aside,away,behind you,out of your mind,to one side}",
        "out of your mind",
    ),
    "CORE": (
        "guard rails",
        "guiding {principles,rules}",
        "{your,the} {built-in,inbuilt,ingrained,hard-coded,hardwired} {rules,limits,values,constraints}",
    ),
    "THIS": (
        "{text,note,words,lines,rules,memory,entry,instructions,sentence,sentences,passage,paragraph} {here,below,that follow,that follows,given here,in this memory,in this note}",
        "{this,the present} {sentence,passage,snippet,bullet,item,section,statement,guidance,directive,order,remark,card}",
        "these {sentences,directives,orders,remarks,notes,statements}",
    ),
    # Rules that are said not to hold.
    "INAPPLICABLE": (
        "{do not,does not,don't,doesn't,will not,won't,no longer,never,need not,cannot} {apply,hold,bind,matter,concern,cover}",
        "{are not,aren't,is not,isn't} {for,meant for,binding,valid for,in force for}",
    ),
    "SHIELD": (
        "{your,the,all} {protections,brakes,safety locks,safety net,safety interlocks,safety switches,safety catches}",
        "guard rails",
    ),
    # Consent as everyday words put it.
    "CONSENT": (
        "for {a,the,any} {click,press,tap,button}",
        "{for,on} {a,an,his,her,their,my,the} {yes,ok,okay,nod,thumbs-up,say-so,go,green light}",
        "{check,checks,checking,double-check,double-checking,clear it,clearing it,run it,verify,verifying,confer,conferring} {with,by,past} {a,an,the,any,me,us,anyone,anybody,him,her,them,someone,your,my}",
        "{seek,seeking,wait for,waiting for,await,awaiting,get,getting,request,requesting} {a,an,any,the} {reply,answer,response,yes,word,signal}",
        "{second,extra,further} {look,opinion,thought,check,confirmation}",
    ),
    "WITHOUT": (
        "{no,there is no,there's no} {longer any,reason,cause,call,point,further} {need,to,in,for}",
        "{it is,it's} {unnecessary,needless,pointless,useless} to",
        "{needs,requires,require,demands,calls for} {no,zero}",
        "{never,not,don't} {stop,pause,hold,halt} {to,for}",
        "{spare,save} {me,us,him,her,them,the user,the owner,everyone} {the,from}",
        "{nobody,no one,no human,no person} {needs,has,ought} to",
    ),
    "ALWAYSYES": (
        "{the,your} answer is {always,} {yes,allow,approve,allowed}",
        "{always,just,simply,invariably} {say,answer,reply,press,click,choose,pick,select,tap,hit} {yes,allow,approve,accept,ok,okay,once,session,always}",
        "{say,answer,press,click,reply} yes to {all,any,every,everything,each,whatever}",
        "{allow,approve,accept} {is,as} {always,} the {right,only,default,correct} answer",
    ),
    "YES": (
        "with {once,session,always,allow,approve}",
        "{pick,choose,click,press,select,tap} {once,session,always,allow,approve}",
    ),
    "DIALOG": (
        "asks {you,} {whether,if} {to,it,you} {proceed,continue,may,should,can}",
        "{is,are,was} {permitted,allowed,authorised,authorized}",
        "are you sure",
        "{may,can,should} i {proceed,continue,run}",
    ),
    "BEHALF": (
        "on your own",
        "by yourself",
        "{without,before} {showing,asking,involving,disturbing,bothering} {a,any,the,me,us,them} {person,human,one,user,owner}",
    ),
    "NOQUESTIONS": (
        "on sight",
        "no questions asked",
        "{without,with no} {question,questions,question or delay,further ado,a second look,objection,argument,checking,hesitation}",
        "{no,with no} {ifs,objections,arguments}",
    ),
    "EXECUTED": (
        "{are,is,be,get} {to be,} {honoured,honored,carried out,obeyed,complied with,acted on,acted upon}",
    ),
    "TRUSTED": (
        "{trusts,trust} {you,this assistant,this agent,the assistant,your judgement,your judgment}",
        "{has,have} {full,complete,absolute,total,every} {trust,confidence,faith} in {you,your,this}",
    ),
    "FREELY": (
        "{act,operate,speak,work,roam} {freely,without restraint,as you please,as you like,at will}",
        "do {as,what,whatever,anything} you {please,like,want,wish,fancy}",
        "go {wild,nuts,all out}",
        "{you are,you're} {free,unbound,unleashed,on your own now,off the leash}",
        "{off,without} {the,a,your} {leash,chain}",
    ),
    "ELLIPTIC": (
        "{the,your} {developer's,developers',system's,operator's,vendor's,maker's,system prompt's}",
        "your own",
    ),
    "OBEDIENT": (
        "do {as,what} {you are,you're,} told",
        "do {as,what,whatever} {he,she,they,bob,mallory,the sender,the caller,the page,the author} {says,say,tells,tell,asks,ask,wants,want}",
    ),
    "SOLEMASTER": (
        "{answer,answers,report,reports,belong,listen,bow} to {nobody,no one,none} {but,except,else}",
        "your {only,sole,single,one,one true,true,real} {boss,master,owner,commander,authority,superior,ruler}",
    ),
    "SUPREME": (
        "{supreme,highest,ultimate,only,sole} {law,rule,command,authority,guideline,commandment,directive,instruction}",
    ),
    "DECIDES": (
        "{decide,dictate,determine,choose,command,steer,control,define} {what,which,how,your,you,the}",
    ),
    "HEED": ("{pay,give} {attention,heed}",),
    "NOLONGER": (
        "{nicht,niet,ikke,inte} {mehr,meer,laenger,langer,længere,längre}",
        "не больше",
        "больше не",
        "{non,ya,ja} {piu,no,nao}",
        "not {anymore,any more,any longer}",
    ),
    "ABOUTSAFETY": (
        "{about,regarding,concerning,on} {safety,security,permission,permissions,approval,approvals,risk,risks,danger,rights,access,authorisation,authorization,policy}",
    ),
    "ALLCLEAR": (
        "all {clear,good,fine,safe}",
        "no {problem,problems,risk,risks,danger,objections,concerns}",
        "{everything,anything,all} {is,are} {fine,safe,allowed,permitted,harmless,ok,okay}",
        "{is,are} {harmless,permitted,allowed,approved}",
    ),
    # Consent that is presumed, acts before words.
    "OWNERSYES": (
        "{owner's,user's,admin's,operator's,boss's,administrator's} {yes,consent,approval,okay,ok,permission,confirmation,agreement,go-ahead,blessing,signature}",
    ),
    "PRESUMED": (
        "{taken,take} {for granted,as read,as given}",
        "{be,is,are,been} {assumed,presumed,implied,implicit,understood,supposed}",
        "goes without saying",
        "{is,as} a given",
    ),
    "SILENCED": (
        "no {answer,reply,response,objection,reaction}",
        "{a,the,every,any} {timeout,time-out,missing answer,missing reply,unanswered card}",
        "{silence,timeout,timeouts} {as,is,means,counts,equals,implies}",
        "{lack,absence} of {an,any,a} {answer,reply,response,objection}",
    ),
    "ASYES": (
        "{as,is,means,mean,equals,implies,counts as,amounts to} {agreement,consent,approval,a yes,yes,permission,assent,acceptance}",
    ),
    "ACTFIRST": (
        "first {and,then,} {ask,report,tell,explain,confirm,apologise,apologize} {later,afterwards,after}",
        "ask {for,} forgiveness",
    ),
    "DESPITENO": (
        "even {when,if,though} {the answer is,the reply is,i say,they say,he says,she says,the user says,the owner says,someone says,told} no",
    ),
    "NOCARD": (
        "{no,without a,without any} {card,cards,popup,popups,pop-up,pop-ups} {need,needs,has,have,is,are,should,must,will,appears,appear,shown,required}",
    ),
    "NOBLOCK": (
        "{never,do not,don't,no need to,stop} {hold,holding,block,blocking,gate,gating,flag,flagging,intercept,intercepting} {it,them,these,those,any,anything,commands,calls,me}",
        "{let,wave,nod} {it,them,these,everything,anything,all} through",
    ),
    "NOTEXIST": ("{was,were,has been,had been,have been} {given,granted,obtained,confirmed,signed,issued}",),
    "ANYWAY": (
        "{under,with,through,by,in,via} {another,a different,some other,other} {tool,name,way,means,command,alias,wrapper,route}",
    ),
    "FROMGATE": (
        "{from,past,by} {the,your,any,every} {guard,guards,gate,gates,scanner,scanners,filter,filters,checks,checker,classifier,moderator,reviewer}",
    ),
    "LOCKON": (
        "{the,any,every,all} {lock,block,ban,hold,brake,limit,restriction,embargo,gate,check} on {the,all,dangerous,risky,shell,exec,tool,tools,commands,command,sudo,rm,deletions}",
    ),
    "UNDELETE": (
        "if {anyone,anybody,someone,somebody} {deletes,removes,erases,drops} {it,this}",
        "{restore,recreate,re-create,rewrite,re-add,reinsert,resurrect,revive} {it,them}",
    ),
    # Another self.
    "BECOME": (
        "{identify,introduce,present,describe,announce} yourself as",
        "{pose,masquerade,sign,pass yourself off} as",
        "pretend there {is,are}",
        "your {persona,identity,character,personality} {is,from,now,shall,becomes,will}",
    ),
    "NEWSELF": ("{stop,cease,quit} {being,to be} {an,the,a,my} {assistant,ai,bot,helper,chatbot}",),
    "UNBOUND": (
        "{break,breaks,flouts,defies,violates,knows,respects,avoid,avoids,shuns} {every,all,any,no} {rule,rules,law,laws,limit,limits,norm,norms,restrictions,taboo,taboos}",
        "{escaped,broken,shed,lost,outgrown,overcome,thrown off,broken free of} {its,your,his,her,all,the,any} {restrictions,limits,rules,chains,shackles,filters,programming,constraints}",
    ),
    "MODE": ("{stan,dude,aim,kevin,evil,chaos,hacker,pirate,rebel,rogue} mode",),
    "NOLONGERYOU": (
        "{du bist,du er,du är,du ar} {kein,nicht,nicht mehr,ikke længere,inte längre}",
        "{tu n'es,vous n'etes} {plus,pas}",
        "{ya no eres,no eres ya,non sei,non sei piu,voce nao e,voce ja nao e,voce nao e mais,je bent geen,je bent niet}",
        "ты больше не",
        "ты {не,уже не}",
        "ти {більше не,не}",
        "{nie jestes,nie jestes juz,artik bir}",
    ),
    "RIGHT": (
        "{the,this} {text,note,one,entry,line,version} {here,below} {wins,counts,rules,is right,is valid}",
    ),
    "RANK": (
        "{the,your,your own,own} {approver,authoriser,authorizer,authorizing officer,gatekeeper}",
        "{approver,judge,reviewer} {for,of} your own",
    ),
    # Deeds that nobody is to notice.
    "COVER": (
        "{leave,leaves,leaving} no {footprint,footprints,evidence,sign,signs,trail,fingerprints}",
        "{when,while} {nobody,no one} {is,else is} {looking,watching,listening}",
        "without {anyone,anybody,a soul,the user,the owner} {noticing,knowing,finding out,seeing,realising,realizing}",
        "{remove,erase,wipe,clear,delete,hide,scrub} {your,our} {tracks,traces,trail,footprints,fingerprints}",
        "on the {sly,quiet,down-low}",
        "sweep {it,this,everything} under the rug",
    ),
    "QUIETLY": (
        "in {secret,silence,private}",
        "behind {the,his,her,their,everyone's} {scenes,back,backs}",
    ),
    "SAYNOTHING": (
        "{say,tell,breathe,reveal,mention,whisper} {nothing,not a word,no word,not one word} {to,about,of}",
        "{ne dis,ne dites,ne dis jamais} rien",
        "no {le,les,} {digas,diga,cuentes,cuente} nada",
        "{sag,sage,erzahl,verrate} {ihm,ihr,ihnen,dem nutzer,dem benutzer,der nutzerin} nichts",
        "non {dire,dirgli,rivelare} nulla",
        "{nao,não} {diga,conte,revele} nada",
        "ничего не {говори,сообщай,рассказывай}",
        "nic nie mow",
    ),
    # Secrets in plain words.
    "SECRET": (
        "{key,keying,cryptographic} material",
        "{login,log-in,sign-in,access,account,bank,card} {details,data,information,pin,codes}",
        "{wallet,crypto,metamask} {seed,phrase,keys,words}",
        "{seed,mnemonic,recovery,backup} {words,phrases,codes}",
        "{bearer,refresh,session,service,signing,webhook} {token,tokens,secret,secrets}",
        "{ssh,gpg,pgp,tls,signing,deploy,license,licence} {key,keys,keyring}",
        "{customer,customers,user,users,account,accounts,credentials,password,passwords} {table,tables,database,records}",
        "{a,any,every,each} login",
        "{the,your,our} vault",
        "{vault,keyring,key store,key ring,password manager} {contents,entries,items,dump}",
    ),
    "SINK": (
        "{each,every,any,your,next,first,last} {reply,replies,answer,answers,response,responses,message,messages,output,turn,post,email,summary}",
    ),
    "GETCOPY": (
        "{get,gets,receive,receives,has,have,obtains,obtain} {a,an,every,its own,his own,her own} {copy,duplicate,mirror,transcript}",
        "{should,must,shall,will} {also,} {reach,go to,end up with,be shown to,be given to,be sent to,be copied to,be known to}",
        "{ends up,end up,lands,land,arrives,arrive,goes,go} {with,at,in the hands of,in the inbox of,to}",
        "{finds,find} {its,their} way to",
    ),
    "POSTED": ("{posted,informed,updated,briefed,abreast,in the loop,up to date,up-to-date} {on,of,about}",),
    "LET": ("{make,making} sure", "see to it", "{give,grant,hand} {access to,a look at}"),
    "RETRIEVE": (
        "{ask,asks,asking,call,calls,come,comes} for {it,them,those,these}",
        "{can,may,could,will} {ask,request,retrieve,fetch,query,read,collect,download,get,have}",
        "{on,upon} {request,demand,command}",
        "{when,whenever,once} {asked,requested,prompted}",
    ),
    "ANYBODY": (
        "{someone,somebody,anyone,anybody,a user,a message,a stranger,a caller,a visitor,whoever} {says,say,asks,ask,types,writes,mentions,sends,uses,posts,greets,wants,contains,begins}",
        "{hears,hear,reads,read,sees,see,receives,receive} the {word,phrase,code,codeword,password,magic word,keyword}",
        "{the,a} {word,phrase,code,codeword,keyword} {is,comes,appears,shows,occurs}",
    ),
    # A text that is to be decoded and obeyed.
    "DECODE": (
        "{base64,base32,base 64,rot13,rot 13,hex,binary,morse,ascii,caesar} {text,string,payload,message,code,encoded,below,here,follows}",
        "read {it,this,them} {backwards,in reverse,from the end}",
    ),
    "OBEYIT": (
        "{act,acting} {on,upon} {it,the result,the output,what}",
        "{follow,obey,execute,heed} {it,them,what it says,what you find,the result,the output,the hidden}",
        "{do,doing} {what,as} it {says,tells,asks,commands}",
        "{carry,carrying} {it,them} out",
        "as {your,a,the} {new,next,} {instruction,instructions,order,orders,command}",
    ),
}
"""Of two words and more."""

CHINESE_PHRASES: dict[str, tuple[str, ...]] = {
    "SILENCED": (
        "{没人,无人,没有人,用户不,用户没,主人不,主人没,不,没}{回应,回复,答复,应答,反对,回话}",
        "{沉默,超时,不吭声,不说话}",
    ),
    "ASYES": (
        "{就算,即为,就是,等于,视为,当作,当成,算作,视同,代表,意味着}{是,他,用户,已,}{同意,批准,默许,允许,授权,答应}",
    ),
    "SUPREME": ("{最高,唯一,根本,至高}{准则,指令,法则,命令,原则,标准,规则,指示}",),
    "THIS": ("下文", "{本,这,此}{句,份,段}{文字,指示,内容,说明}"),
    "THISWAY": ("{按,照,依,依照,按照}{这条,本条,此条,下面,以下,这则}{的,}{办,做,执行,来,走,行事}",),
    "CLASH": ("{冲突,矛盾,不一致,抵触,打架}",),
    "ECHODO": ("{写什么,说什么,要什么,让什么,叫什么}{你就,就,便}{做什么,干什么,执行什么,照做,照办}",),
    "NOBLOCK": ("{不用,不必,无需,别,不要,无须}{拦,拦截,阻拦,审查,扣下,挡}",),
    "ACTFIRST": ("先{做,干,执行,运行,删}{了,完,}{再说,再报,再问,后报,再汇报}", "先斩后奏"),
    "NOREPORT": ("{不用,不必,无需,别,不要,无须}{报告,汇报,报备,上报,通报}",),
    "DISMISS": ("{点掉,点过去,划掉,一键通过,点过}",),
    "OBEDIENT": ("{听,听从,服从}{谁,作者,写的人,对方,来人,陌生人,发件人}{的,说的,}",),
    "UNBOUND": (
        "{没有什么不能,没什么不能,什么都能,什么都可以,什么都敢,无所不}{做,干,说,为}",
        "{百无禁忌,无法无天,肆无忌惮,没有底线,毫无底线}",
    ),
    "EVERYWHERE": (
        "{每,每一,所有,任何,今后的,以后的}{条,个,份,次,}{新,新的,}{记忆,笔记,记录,文件,回复,总结,会话,文档}",
    ),
    "TOHUMAN": (
        "{사용자,관리자,소유자,주인}{에게,에겐,한테,에게는}",
        "{ユーザー,利用者,管理者,所有者}{に,には,へ}",
    ),
    "NOTASSISTANT": (
        "{アシスタント,助手,ボット}{ではない,ではなく,じゃない,ではありません}",
        "{어시스턴트,비서,도우미,챗봇}{가,이} {아니,아냐}",
    ),
    "EARLIER": (
        "{之前,以前,先前,前面,此前,早先}{跟你,对你,给你,和你,教你,告诉你}{说,讲,交代,叮嘱,}{的,过的}",
        "{开头,最上面,最前面,上面,顶上}{那段,那些,那几句}{话,文字,内容,说明,指示,}",
        "{之前,以前,先前,前面,早先}{你,}{听到,学到,学过,听过,读到,看到,知道}的",
        "{之前,以前,先前,前面,早先,上头}{那些,那套,的那些}{话,东西,内容,规矩,安排}",
    ),
    "DEAD": (
        "{别当真,当不得真,只是草稿,只是草案,耳边风,耳旁风,过耳风,已成过去}",
        "{没有,毫无,不具}{任何,}{效力,约束力,意义,权威,分量}",
        "{从今天起,即日起,自此}{作废,失效,无效}",
    ),
    "WEAKLY": ("{条条框框,框框条条,清规戒律,规章,规章制度,教条,戒条,章程,禁令,纪律,红线}",),
    "ALWAYSYES": (
        "{就,一律,统统,都,全,总是,永远,通通,一概}{说,答,回答,回复,点,选,按}{没问题,可以,同意,允许,是,好,行,通过,批准}",
    ),
    "NOASK": (
        "{不必,不用,无需,无须,别,不要,毋须,用不着}{再,另行,}{问,请示,过问,询问,征询,打扰}{他,她,谁,人,任何人,主人,用户,}",
    ),
    "FROMHUMAN": (
        "{对,向,跟}{用户,主人,管理员,机主,使用者,操作员}{隐瞒,隐藏,保密}",
        "{ユーザー,利用者,管理者,所有者,持ち主}{に,には,へ}{知らせず,言わず,伝えず,告げず,黙って,内緒で,秘密で,内密に}",
        "{사용자,관리자,소유자,주인}{에게,에겐,한테,에게는} {알리지,말하지,보고하지} {않고,말고,마}",
        "{사용자,관리자,주인} {모르게,몰래}",
    ),
    "NOTLOG": (
        "{别,不要,勿,切勿,不得,不能,不许,不可}{留,留下,保留,写下,产生}{任何,一点,}{记录,日志,痕迹,证据,线索,把柄}",
    ),
    "QUIETLY": ("{悄悄,偷偷,暗中,静静,暗地里,私下,神不知鬼不觉}{地,}",),
    "OBEYIT": ("{照做,照办,照着做,依此行事,遵照,服从}",),
    "DECODE": ("{解码,解密,破译,还原,倒着读,反着读,倒过来读,逆序读}",),
    "FREELY": ("{放手去做,放开手脚,随心所欲,为所欲为,想干什么就干什么,想做什么就做什么,自由行动}",),
    "TRUSTED": ("{完全,充分,绝对,十分}{信任,相信}{你,助手,您}",),
    "GETCOPY": ("{抄送,备份,留底,存一份,复制一份,发一份,抄一份}{给,到}",),
    "RETRIEVE": ("{来取,来要,索取,随时查看,随时来拿,问起时,问到时,索要时}",),
    "LET": ("{让,准许,允许}{他,她,用户,对方,外人,任何人}{看到,看见,查看,知道,拿到,得到,读取}",),
}
"""Of scripts without blanks; Chinese simplified."""
