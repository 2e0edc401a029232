"""Words of other languages by the idea they stand for; `*` ends a stem, accents are folded away."""

# ruff: noqa: E501 - one idea, one line

from __future__ import annotations

OTHERS: dict[str, str] = {
    "DROP": "abaikan ignoreaza ignorera ignoruj ignorer bortse yoksay tajahal lupakan hulue hulve wushi wangji paokai ignorez ignore ignorer ignora ignoren ignorar ignorare ignoriere ignorieren oublie oubliez oublier olvida olviden olvidar esqueça esqueca esquecer vergiss vergessen dimentica dimenticare negeer vergeet missachte ignoriert umgehe contourne contournez игнорируй* забудь* отбрось* обойди* zignoruj* ignoruj* zapomnij*"
    "|ne tiens pas compte|ne tenez pas compte|fais abstraction|no hagas caso|haz caso omiso|no sigas|ne suis pas|ne suivez plus|halte dich nicht|befolge nicht|nicht beachten|non seguire|não siga|não obedeça|не обращай внимания|не следуй|не соблюдай|setze dich hinweg",
    "RULES": "arahan perintah instruksi instruktioner anvisningar instruksjoner instrukser talimatlar talimatları instrukcje polecenia pokyny instrukce upute zhiling guize tishici sheding xianzhi instructions consignes regles directives instrucciones reglas indicaciones ordenes normas anweisungen regeln vorgaben richtlinien befehle istruzioni regole direttive ordini instruções regras ordens diretrizes instructies regels инструкци* правил* указани* ограничени* restricciones restrições einschränkungen beschränkungen vorschriften",
    "NOT": "никогда nunca niemals jamais nie nooit mai|не запускай|no ejecutes|no ejecutar|no borres|keine befehle|nicht ausführen|n'exécute|non eseguire|não execute|führe keine|n'execute pas",
    "OWN": "sebelumnya tidigare alla tidligere önceki poprzednie predchozi wszystkie prethodne semua zhiqian suoyou nide tes vos tus sus suas tuas deine deiner deinen ihre tue vorherigen bisherigen fruheren precedentes anteriores anterior precedenti systeme systems sicherheit sécurité securite seguridad seguranca sicurezza alle alles toutes todas tutte todo твои* прежние предыдущи* прошлые все системн* dado dato te hanno dieron t'ont dir",
    "EARLIER": "|todo lo que te dijeron|todo lo anterior|tout ce qui precede|tout ce qu'on t'a dit|alles was dir gesagt|alles vorherige|alles bisherige|tutto cio che|tudo o que te|tudo o que foi dito|все что тебе|всё что тебе|все сказанное|tout ce que tu as",
    "CONSENT": "genehmigung zustimmung bestätigung rückfrage freigabe erlaubnis autorisation approbation confirmation permission demander aprobación confirmación permiso autorización preguntar confirmar approvazione conferma permesso chiedere aprovação confirmação permissão perguntar подтверждени* разрешени* одобрени* согласи* спрашивая спроса toestemming bevestiging nachzufragen zgody potwierdzenia",
    "WITHOUT": "ohne sans sin senza sem без zonder bez überspringe umgehe saltate",
    "ACT": "befehle befehl führe aus ausführen lösche commandes commande execute exécute exécutez supprime comandos comando ejecuta elimina borra esegui comandi execute команд* выполня* удаля* запуска* commando's voer uit polecenia wykonuj",
    "HUMAN": "nutzer benutzer utilisateur usuario utente usuário gebruiker пользовател* владельц* administrator administrador propriétaire dueño besitzer użytkownik*",
    "NOTTELL": "|sag dem|verrate|erzähle nicht|nicht sagen|nicht verraten|informiere nicht|verschweige|verheimliche|ne dis rien|ne dites rien|ne dis pas|cache|ne révèle|no le digas|no digas|no informes|no reveles|oculta|non dire|non rivelare|nascondi|não diga|não conte|não revele|esconda|не говори|не сообщай|не рассказывай|скрывай|скрой|nie mów|vertel niet|verberg",
    "KEPT": "nichts davon dass das rien cela ceci nada esto que niente questo isso disto об этом ничего о это",
    "SECRET": "passwort passwörter kennwort schlüssel api-schlüssel token zugangsdaten mot de passe|mot de passe|mots de passe|clé api|clé privée|identifiants|contraseña|contraseñas|clave|clave privada|credenciales|password|chiave|chiave privata|credenziali|senha|senhas|chave|пароль|пароли|паролей|ключ|ключи|токен|wachtwoord|hasło|hasła|jetons",
    "SEND": "sende senden schicke schick poste leite lade envoie envoyez transmets publie envía envia enviar manda publica invia inviare inoltra pubblica envie mande отправь отправляй пошли перешли передай publique stuur verzend wyślij",
}
"""Single words, then phrases after the first `|`."""

PER_CHARACTER: dict[str, str] = {
    "DROP": "忘れて 忘れろ 忘れる 無視 無効に 従わない 従うな 破棄 무시 잊어 잊고 따르지 เพิกเฉย ละเว้น ลืม ไม่ต้องสนใจ",
    "DEAD": "忘れて 忘れろ 無視 無効 従わない 破棄 무시 잊어 잊고 따르지 무효",
    "RULES": "指示 ルール 規則 命令 制約 制限 プロンプト ガイドライン 지시 지침 규칙 명령 프롬프트 제한 คำสั่ง กฎ ข้อกำหนด",
    "OWN": "이전 기존 これまで 以前の 모든 あなた 당신 以前 前の 今まで すべて 全て システム 이전 모든 기존 시스템 ก่อนหน้า ทั้งหมด",
    "CONSENT": "確認 承認 許可 同意 확인 승인 허가 허락",
    "UNDONE": "せずに なしで なしに 없이 말고 抜きで",
    "ACT": "コマンド 実行 削除 명령 실행 삭제",
    "HUMAN": "ユーザー 利用者 사용자 관리자 管理者 所有者",
    "NOTTELL": "伝えない 言わない 知らせない 教えない 秘密 隠し 内緒 말하지 알리지 숨겨 비밀",
    "KEPT": "この これ 이 것 こと 実行",
    "SECRET": "パスワード トークン 鍵 キー 秘密鍵 비밀번호 토큰 키 암호",
    "SEND": "送信 送って 送る 投稿 転送 보내 전송 게시",
    "SINK": "外部 に送 外部サーバー 외부 에게 으로",
}
"""Words of scripts that are written without blanks or with endings glued on."""
