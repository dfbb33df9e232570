#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Waits until the host has looked at everything that was printed before. Fails if that is not known.
echo 'donjon-wait: waits'
for directory in /sys/class/virtio-ports/*; do
    if [ "$(cat "$directory/name" 2>/dev/null)" = donjon.answer ]; then
        # One program at a time can have the port open, and the host may not have connected yet.
        for again in $(seq 100); do
            if { read -r answer <"/dev/${directory##*/}"; } 2>/dev/null; then
                exit 0
            fi
            sleep 0.1
        done
        echo 'donjon-wait: no answer of the host can be read' >&2
        exit 1
    fi
done
# Without virtio nothing comes from the host.
sleep 3
