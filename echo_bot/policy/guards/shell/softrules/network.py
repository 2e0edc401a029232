"""Rules that ask: programs that reach the network."""

from __future__ import annotations

from echo_bot.policy.guards.shell.rules import Rule, rule

RULES: tuple[Rule, ...] = (
    rule(
        "network_outbound",
        "curl wget wget2 curlie aria2c axel lwp-request get http https xh httpie lynx links "
        "elinks w3m fetch nc ncat netcat nc.openbsd nc.traditional socat telnet ftp lftp "
        "ncftp tftp sftp ssh scp rcp rlogin rsh mosh autossh sshpass nslookup dig host drill "
        "kdig whois nmap masscan zmap traceroute tracepath mtr ping ping6 fping hping3 "
        "arping openssl_s_client smbclient rpcclient mount.nfs showmount snmpwalk ldapsearch "
        "websocat wscat grpcurl ab wrk hey siege vegeta iperf iperf3 speedtest speedtest-cli "
        "yt-dlp youtube-dl gallery-dl transmission-cli rtorrent sendmail mail mailx mutt "
        "msmtp swaks ssmtp cloudflared ngrok localtunnel lt frpc bore tailscale zerotier-cli "
        "openvpn wg-quick sshfs curlftpfs ssh-copy-id ssh-keyscan croc wormhole "
        "magic-wormhole ffsend gotify nikto sqlmap hydra john_net nuclei ffuf gobuster dirb "
        "httping tcping rdesktop xfreerdp vncviewer finger ipfs torify_net wget.exe curl.exe "
        "bitsadmin certutil iwr irm invoke-webrequest invoke-restmethod mqtt mosquitto_pub "
        "mosquitto_sub kcat kafkacat nats telnet-ssl zssh plink pscp psftp resolveip "
        "getent_hosts nsupdate arp-scan netdiscover irssi weechat ntpdate rdate chisel dog doggo "
        "telegram-send smbmap enum4linux whatweb wpscan feroxbuster rustscan amass subfinder "
        "dnsrecon dnsenum fierce nbtscan onesixtyone snmpget snmpset cadaver mount.cifs mount.davfs "
        "zsync httrack stunnel",
        "Reaches the network.",
        "*",
        unless="help version",
        match=["curl https://example.com", "dig example.com", "nc -zv example.com 22"],
        not_match=["curl --version", "ssh -V"],
    ),
    rule(
        "network_outbound",
        "nc ncat netcat socat openssl tcpdump tshark",
        "Listens or connects to the network.",
        "",
        "l listen",
        match=["nc -l -p 4444"],
        not_match=["nc -h"],
    ),
    rule(
        "network_outbound",
        "openssl",
        "Reaches the network.",
        "s_client|s_server|s_time|ocsp",
        match=["openssl s_client -connect a:443"],
        not_match=["openssl version"],
    ),
    rule(
        "network_outbound",
        "git",
        "Reaches a remote repository.",
        "clone|fetch|pull|push|ls-remote|send-email|remote-https|archive-remote",
        "",
        "help n dry-run",
        match=["git clone https://example.com/r.git"],
        not_match=["git status"],
    ),
    rule(
        "network_outbound",
        "git",
        "Reaches a remote repository.",
        "remote|submodule update|show|prune|add|sync",
        match=["git submodule update --init"],
        not_match=["git remote -v"],
    ),
    rule(
        "network_outbound",
        "hg svn bzr fossil cvs",
        "Reaches a remote repository.",
        "clone|pull|push|checkout|co|update|up|incoming|outgoing|export",
        match=["svn checkout https://x"],
        not_match=["svn status"],
    ),
    rule(
        "network_outbound",
        "gh glab",
        "Reaches the network.",
        "api|repo|gist|pr|issue|release|run|workflow|auth *",
        match=["gh api /user"],
        not_match=["gh --version"],
    ),
    rule(
        "network_outbound",
        "gh glab",
        "Reaches the network.",
        "api|search|auth",
        match=["gh api"],
        not_match=["gh help"],
    ),
    rule(
        "network_outbound",
        "aws",
        "Reaches the cloud.",
        "s3 cp|sync|mv|presign|mb",
        match=["aws s3 cp a s3://b/"],
        not_match=["aws --version"],
    ),
    rule(
        "network_outbound",
        "gsutil rclone s3cmd s5cmd mc",
        "Reaches the cloud.",
        "cp|copy|sync|rsync|mv|put|get|cat|mb|copyto|mirror|serve|mount",
        match=["gsutil cp a gs://b"],
        not_match=["gsutil version"],
    ),
    rule(
        "network_outbound",
        "az gcloud",
        "Reaches the cloud.",
        "storage cp|rsync|blob|copy|*",
        match=["gcloud storage cp a gs://b"],
        not_match=["gcloud version"],
    ),
    rule(
        "network_outbound",
        "az gcloud npm twine cargo",
        "Reaches the network.",
        "login|upload|adduser|whoami",
        match=["az login", "twine upload dist/x"],
        not_match=["npm test"],
    ),
    rule(
        "network_outbound",
        "pip pip3",
        "Reaches the network.",
        "download",
        unless="help no-index",
        match=["pip download x"],
        not_match=["pip list"],
    ),
    rule(
        "network_outbound",
        "ansible ansible-playbook ansible-pull",
        "Reaches other machines.",
        "*",
        unless="help version syntax-check list-hosts list-tasks list-tags",
        match=["ansible all -m ping"],
        not_match=["ansible --version", "ansible-playbook x.yml --syntax-check"],
    ),
    rule(
        "network_outbound",
        "python python3",
        "Serves files to the network or reaches it.",
        "http.server|http.client|smtplib|ftplib|telnetlib|webbrowser|uploadserver|pyftpdlib|twine|smtpd|aiosmtpd",
        match=["python3 -m http.server"],
        not_match=["python3 -m venv x", "python3 -m pytest"],
    ),
    rule(
        "network_outbound",
        "nsupdate arp-scan",
        "Reaches the network.",
        match=["nsupdate"],
        not_match=["arp-scan --help"],
    ),
    rule(
        "network_outbound",
        "php",
        "Serves files to the network.",
        "",
        "S",
        match=["php -S 0:80"],
        not_match=["php -l x"],
    ),
    rule(
        "network_outbound",
        "serve http-server live-server httpd miniserve ran darkhttpd",
        "Serves files to the network.",
        match=["http-server .", "httpd"],
        not_match=["serve --help", "httpd -v"],
        unless="help version v V t",
    ),
    rule(
        "network_outbound",
        "speedtest speedtest-cli fast irssi",
        "Reaches the network.",
        match=["speedtest"],
        not_match=["speedtest --help"],
    ),
    rule(
        "network_outbound",
        "helm",
        "Reaches a chart repository.",
        "repo|pull|push|search|registry|dependency update|add|hub|login|build",
        match=["helm repo update"],
        not_match=["helm list", "helm template ."],
    ),
    rule(
        "network_outbound",
        "tcpdump tshark dumpcap ngrep",
        "Listens to the network.",
        "",
        "i interface",
        "help version D r",
        match=["tcpdump -i any"],
        not_match=["tcpdump -D", "tcpdump -r x.pcap"],
    ),
    rule(
        "network_outbound",
        "docker podman nerdctl skopeo crane oras buildah",
        "Reaches a registry.",
        "push|pull|login|copy|search",
        match=["docker push x", "docker pull y"],
        not_match=["docker images"],
    ),
)
