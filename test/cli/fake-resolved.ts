/**
 * `ip` and `resolvectl` for tests: they record their arguments in the file `calls` beside them,
 * keep a link as the file `link`, and refuse the verb in the file `fail`.
 * @module
 */

const HEAD = `#!/bin/sh
folder=\${0%/*}
echo "\${0##*/} $*" >> "$folder/calls"
read -r verb 2>/dev/null < "$folder/fail" || [ -n "$verb" ] || verb=none
`

/** The programs by name; make them executable. */
export const FAKE_PROGRAMS: Readonly<Record<string, string>> = {
  ip: `${HEAD}case "$1 $2" in
  'link add') [ ! -e "$folder/link" ] || { echo 'RTNETLINK answers: File exists' >&2; exit 2; }; : > "$folder/link" ;;
  'link delete') [ -e "$folder/link" ] && /bin/rm "$folder/link" ;;
esac
`,
  resolvectl: `${HEAD}[ "$1" != "$verb" ] || { echo refused >&2; exit 1; }
`,
}
