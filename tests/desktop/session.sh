#!/usr/bin/env bash
# Runs a program in a desktop session of its own: a virtual display, a session bus, an unlocked keychain, a home.
set -u
place=$(mktemp -d "${TMPDIR:-/tmp}/headgate-session-XXXXXX")
chmod 755 "$place" # PostgreSQL runs as another user and has to get through
exec 3>"$place/display"
Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp >"$place/xvfb.log" 2>&1 &
xvfb=$!
exec 3>&-
trap 'kill $xvfb; wait $xvfb 2>/dev/null; rm -rf "$place"' EXIT
for _ in $(seq 100); do [ -s "$place/display" ] && break; sleep 0.1; done
DISPLAY=:$(cat "$place/display")
export DISPLAY GDK_BACKEND=x11 LIBGL_ALWAYS_SOFTWARE=1 NO_AT_BRIDGE=1 GTK_A11Y=none
unset WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
export HOME=$place/home XDG_RUNTIME_DIR=$place/run
export XDG_DATA_HOME=$HOME/.local/share XDG_CONFIG_HOME=$HOME/.config XDG_CACHE_HOME=$HOME/.cache
mkdir -m 755 "$HOME"
mkdir -m 700 "$XDG_RUNTIME_DIR"
mkdir -p "$XDG_DATA_HOME/keyrings" "$XDG_CONFIG_HOME" "$XDG_CACHE_HOME"
export HEADGATE_SESSION=$place
dbus-run-session -- bash -c '
  eval "$(printf test | gnome-keyring-daemon --unlock --components=secrets)"
  "$@"' session "$@" 2> >(grep -v -e "Failed to set fd limit" -e "dbus-daemon" -e "SpiRegistry" -e "X connection" >&2)
