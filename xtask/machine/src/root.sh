# SPDX-License-Identifier: MIT OR Apache-2.0
# Read by /init if a disk has the root directory. Its own init goes on there if it has one. A
# command runs under systemd when all is up, and in a plain chroot where there is no systemd.

# Says what is wrong in place of the command, or ends.
refuse() {
    if [ -e /donjon/exec ]; then
        printf 'echo "%s" >&2\nexit 1\n' "$1" >/donjon/refusal
        run="sh /donjon/refusal"
    else
        echo "$1"
        poweroff -f
    fi
}

# The disk itself, or the first of its partitions, that has a file system which mounts.
mount_root() {
    disk=$(word donjon.root)
    for second in 1 2 3 4 5 6 7 8 9 10; do
        [ -b "$disk" ] && break
        sleep 1
    done
    # Where there are several, QEMU says which it is.
    for block in /sys/block/*; do
        if [ "$(cat "$block/serial" 2>/dev/null)" = disk ]; then
            disk=/dev/${block##*/}
        fi
    done
    for device in "$disk" "$disk"?*; do
        mount -t ext4 "$device" /mnt 2>/dev/null && return
    done
    return 1
}

# The kernel's file systems, in the new root alone.
move_mounts() {
    mkdir -p /mnt/proc /mnt/sys /mnt/dev /mnt/run /mnt/tmp
    mount -t tmpfs -o mode=755 tmpfs /mnt/run
    umount /tmp
    for directory in proc sys dev; do
        mount -o move "/$directory" "/mnt/$directory"
    done
}

# The kernel's modules and the directory to build others against, in memory, where the host gave
# them.
add_build_directory() {
    place=/mnt/lib/modules/$(uname -r)
    if ! mkdir -p "$place" || ! mount -t tmpfs -o mode=755 tmpfs "$place"; then
        echo "no directory /lib/modules/$(uname -r) can be made in the root file system" >&2
        return
    fi
    cp /lib/modules/*.ko "$place"
    mkdir "$place/build"
    tar -xzf /donjon/build.tar.gz -C "$place/build"
    rm /donjon/build.tar.gz
}

# The units that make systemd run the command, with its output to the ports, and end the machine.
write_units() {
    units=/mnt/run/systemd/system
    mkdir -p "$units" /mnt/run/donjon
    cp /donjon/exec /mnt/run/donjon/exec
    cat >"$units/donjon.target" <<END
[Unit]
Description=Command of the host
Requires=multi-user.target
Wants=donjon-exec.service
After=multi-user.target
AllowIsolate=yes
END
    cat >"$units/donjon-exec.service" <<END
[Unit]
Description=Command of the host
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/sh /run/donjon/run
Environment=HOME=/root
WorkingDirectory=/root
TimeoutStartSec=infinity
END
    cat >/mnt/run/donjon/run <<END
/bin/sh /run/donjon/exec </dev/null >"$stdout_port" 2>"$stderr_port"
status=\$?
sync
echo "\$status" >"$status_port"
systemctl poweroff
END
}

# Whether the new root has such a file. A link there may lead to an absolute path.
has() {
    [ -e "/mnt$1" ] || [ -L "/mnt$1" ]
}

mount_root && mounted=yes
if [ -n "$mounted" ] && [ -e /donjon/build.tar.gz ]; then
    add_build_directory
fi
if [ -z "$mounted" ]; then
    refuse "the disk has no ext4 file system, neither as a whole nor in a partition: \
--rootfs takes an image with one"
elif [ ! -e /donjon/exec ]; then
    if ! has /sbin/init; then
        refuse "the disk has no /sbin/init: install one into it (Debian: systemd-sysv), or run a \
command with --exec, which needs no more than /bin/sh"
    fi
    move_mounts
    exec switch_root /mnt /sbin/init
elif ! has /bin/sh; then
    refuse "the disk has no /bin/sh to run the command with"
elif [ -z "$channel" ] && [ "$(word donjon.init)" != no ] && has /lib/systemd/systemd; then
    stdout_port=$(port donjon.stdout)
    stderr_port=$(port donjon.stderr)
    status_port=$(port donjon.status)
    move_mounts
    write_units
    exec switch_root /mnt /lib/systemd/systemd --unit=donjon.target
else
    mkdir -p /mnt/proc /mnt/sys /mnt/dev /mnt/run /mnt/tmp
    mount -t tmpfs -o mode=755 tmpfs /mnt/run
    mkdir -p /mnt/run/donjon
    cp /donjon/exec /bin/donjon-* /mnt/run/donjon
    if [ -e /etc/resolv.conf ] && [ -d /mnt/etc ]; then
        cp /etc/resolv.conf /mnt/etc/resolv.conf
    fi
    for directory in proc sys dev; do
        mount --rbind "/$directory" "/mnt/$directory"
    done
    export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    run="chroot /mnt /bin/sh /run/donjon/exec"
    # Such that the file system is clean.
    leave() {
        umount -l /mnt/dev /mnt/sys /mnt/proc /mnt/run
        sync
        umount /mnt || mount -o remount,ro /mnt
    }
fi
