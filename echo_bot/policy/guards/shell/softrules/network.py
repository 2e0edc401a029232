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
        "getent_hosts",
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
        "docker podman nerdctl skopeo crane oras buildah",
        "Reaches a registry.",
        "push|pull|login|copy|search",
        match=["docker push x", "docker pull y"],
        not_match=["docker images"],
    ),
)
