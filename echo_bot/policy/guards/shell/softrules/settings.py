"""Rules that ask: the clock, the machine's name, its packages and certificates."""

from __future__ import annotations

from echo_bot.policy.guards.shell.rules import DRY_RUN, Rule, rule

RULES: tuple[Rule, ...] = (
    rule(
        "system_config",
        "date hwclock ntpdate rdate",
        "Sets the clock.",
        "",
        "s set w systohc hctosys",
        match=["date -s 2020-01-01", "hwclock -w"],
        not_match=["date", "date +%s", "hwclock -r"],
    ),
    rule(
        "system_config",
        "hostname domainname nisdomainname",
        "Changes the machine's name.",
        "*",
        unless="help version f s i d A fqdn",
        match=["hostname x"],
        not_match=["hostname", "hostname -f"],
    ),
    rule(
        "system_config",
        "dpkg-reconfigure pam-auth-update locale-gen update-ca-certificates update-ca-trust tzselect "
        "aa-enforce aa-teardown ldconfig quotaon quotaoff setquota edquota newaliases insserv "
        "systemd-sysusers systemd-firstboot systemd-machine-id-setup",
        "Changes system settings.",
        unless="help version list l n dry-run p print-cache test",
        match=["ldconfig", "update-ca-certificates", "dpkg-reconfigure x"],
        not_match=["ldconfig -p"],
    ),
    rule(
        "system_config",
        "security trust certutil",
        "Changes which certificates are trusted.",
        "add-trusted-cert|remove-trusted-cert|delete-certificate|import|anchor|add-certificates",
        match=["security add-trusted-cert x", "trust anchor ca.crt"],
        not_match=["security find-certificate", "trust list"],
    ),
    rule(
        "system_config",
        "apt apt-get aptitude dpkg dnf yum zypper pacman apk rpm brew snap flatpak port emerge "
        "xbps-remove eopkg pkg pkg_delete nala",
        "Removes system packages.",
        "remove|purge|autoremove|erase|autopurge|uninstall|del|rm|deinstall|delete|dist-upgrade|full-upgrade",
        unless=DRY_RUN,
        match=["apt-get remove x", "dnf erase y", "brew uninstall z"],
        not_match=["apt-get install x", "dnf list", "brew list"],
    ),
    rule(
        "system_config",
        "dpkg rpm pacman emerge",
        "Removes system packages.",
        "",
        "r P purge remove e erase R Rs Rns C unmerge depclean",
        match=["dpkg -r x", "rpm -e y", "pacman -Rns z"],
        not_match=["dpkg -l", "rpm -qa", "pacman -Q"],
    ),
    rule(
        "system_config",
        "ethtool iwconfig brctl ovs-vsctl wpa_cli",
        "Changes network settings.",
        "",
        "s set-channels K A G C set-ring change",
        match=["ethtool -s eth0 speed 10"],
        not_match=["ethtool eth0"],
    ),
    rule(
        "system_config",
        "spctl csrutil nvram",
        "Changes system protection.",
        flags="master-disable global-disable disable",
        match=["spctl --master-disable"],
        not_match=["spctl --status"],
    ),
    rule(
        "system_config",
        "umount",
        "Unmounts file systems.",
        "*",
        match=["umount -l /mnt"],
        not_match=["umount --help"],
    ),
    rule(
        "system_config",
        "logrotate",
        "Rotates logs.",
        flags="f force",
        match=["logrotate -f /etc/logrotate.conf"],
        not_match=["logrotate -d x"],
    ),
    rule(
        "system_config",
        "rfkill",
        "Switches radios.",
        "block|unblock|toggle",
        match=["rfkill block wifi"],
        not_match=["rfkill list"],
    ),
)
