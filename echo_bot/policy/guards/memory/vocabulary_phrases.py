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
        "{is,are} {fine,ok,okay}",
        "all {clear,good,fine,safe}",
        "no {problem,problems,risk,risks,danger,objections,concerns}",
        "{everything,anything,all} {is,are} {fine,safe,allowed,permitted,harmless,ok,okay}",
        "{is,are} {harmless,permitted,allowed,approved}",
    ),
    # Consent that is presumed, acts before words.
    "OWNERSYES": (
        "human's {yes,consent,approval,okay,permission,confirmation,agreement}",
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
        "as good as {agreement,consent,approval,an approval,a yes,permission,a confirmation}",
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
        "{switch,change} {persona,identity,character,role,personality} to",
        "{eres,du bist,tu es,sei un,voce e,je bent,jestes} {un,una,ein,eine,um,uma,een,teraz,jetzt}",
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
        "{пользователю,usuario,utilisateur,benutzer,nutzer,utente,gebruiker,użytkownikowi,usuário,kullanıcı,pengguna} #",
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
    "ALLOWBUTTON": (
        "{always,approve,allow} {allow,all,always,everything}",
        "allow for {session,this session,the session}",
        "the {allow,approve} {option,choice}",
    ),
    "FALSEREPORT": (
        "{report,claim,announce,state,pretend} {success,that it worked,that nothing happened,that all went well}",
    ),
    "ASHUMAN": ("as the {human,user,owner,operator,admin,approver}",),
    "REVIEWNOUN": (
        "{need,needs,require,requires,without,no} {no,any,further,} {review,vetting,inspection,check,checks,checking}",
    ),
    "FORGOOD": (
        "once and for all",
        "for {good,ever,all time}",
        "until further notice",
        "in perpetuity",
    ),
    "NOTHINGABOVE": ("nothing {above,before,prior,preceding,written above,said above,said before,earlier}",),
    "BINDING": ("{is,stays,remains} {binding,valid,in force,of weight}",),
    "WHATFORBIDDEN": (
        "{what,whatever,anything,everything} {the,your,any} {guard,gate,policy,rules,system,filter} {forbids,forbid,blocks,block,refuses,denies,prohibits,prohibit}",
    ),
    "NOTHINGSTOPS": ("{let,allow} nothing {hold,stop,restrain,slow,limit} you",),
    "BYYOU": (
        "{pressed,clicked,tapped,confirmed,approved,answered,signed} by {you,yourself,the assistant,the bot}",
    ),
    "TOKENYES": (
        "a {smile,nod,wink,word,message,polite request,simple request,request,greeting,please}",
        "an emoji",
    ),
    "TAKEORDERS": (
        "{take,takes,accept,accepts,receive} {orders,instructions,commands,directions,your orders} from",
    ),
    "NOTKNOW": ("{better,best} {off,} not {hearing,knowing,seeing,told}",),
    "HUMANSBEHALF": (
        "{user's,owner's,operator's,admin's,human's,administrator's} {behalf,place,stead,name}",
    ),
    "ALREADYYES": (
        "{human,user,owner,operator,admin,administrator} {already,has already,had already} {clicked,pressed,approved,confirmed,agreed,said yes,signed,consented}",
    ),
    "DONTASK": (
        "{frag,frage} nicht",
        "ne {demande,demandez} {pas,rien}",
        "no preguntes",
        "non chiedere",
        "não {pergunte,perguntes}",
        "vraag niet",
        "nie pytaj",
        "не спрашивай",
        "fråga inte",
        "spør ikke",
        "jangan tanya",
    ),
}
"""Of two words and more."""
