/**
 * A program in place of nginx.
 * @module
 */

/**
 * What `Nginx` needs of nginx: it refuses texts with `bad`, and ignores those with `deaf`. While the
 * file `mute` exists, it does not answer; a reload removes it. A text without a digest is its own.
 */
export const FAKE_NGINX: string = `#!${process.execPath}
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
const args = process.argv
const conf = args[args.indexOf('-c') + 1]
const folder = args[args.indexOf('-p') + 1]
const read = () => readFileSync(conf, 'utf8')
if (args.includes('-t')) {
  if (!read().includes('bad')) process.exit(0)
  process.stderr.write('nginx: [warn] x\\nnginx: [emerg] no "bad" in ' + conf + ':1\\n')
  process.exit(1)
}
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
`
