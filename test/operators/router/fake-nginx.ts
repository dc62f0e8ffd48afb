/**
 * A program in place of nginx.
 * @module
 */

/**
 * What `Nginx` needs of nginx: it refuses texts with `bad`, and ignores those with `deaf`. While
 * the file `mute` exists, it does not answer; a reload removes it. A text without a digest is its
 * own.
 */
export const FAKE_NGINX: string = `#!/bin/sh
# Tests prove dozens of texts: a start of Node for each would be half of their CPU time.
if [ "$1" = -t ]; then
  grep -q bad "$6" || exit 0
  printf 'nginx: [warn] x\\nnginx: [emerg] no "bad" in %s:1\\n' "$6" >&2
  exit 1
fi
exec ${process.execPath} --input-type=module - "$@" <<'END'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
const args = process.argv
const conf = args[args.indexOf('-c') + 1]
const folder = args[args.indexOf('-p') + 1]
const read = () => readFileSync(conf, 'utf8')
const find = () => /return 200 ([0-9a-f]{64});/.exec(read())?.[1] ?? read()
let digest = find()
const server = createServer((_, response) => {
  if (!existsSync(folder + '/mute')) response.end(digest)
})
server.listen(folder + '/nginx.sock')
process.on('SIGHUP', () => {
  rmSync(folder + '/mute', { force: true })
  if (!read().includes('deaf')) digest = find()
})
process.on('SIGQUIT', () => {
  rmSync(folder + '/nginx.pid')
  process.exit(0)
})
// The last step: whoever finds the number may send a signal at once.
writeFileSync(folder + '/nginx.pid', process.pid + '\\n')
END
`
