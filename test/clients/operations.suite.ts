/**
 * `kubedoh serve` as a service: units, socket activation, reports to systemd, and the privileges
 * that docs/operations.md promises to be enough.
 * @module
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'vitest'
import { parseResponse } from '../../src/dns/wire/message.ts'
import { formatRecord } from '../../src/snapshot/records/zone-text.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { describeUnless } from '../describe-unless.ts'
import { ROOT, read } from '../docs/pages.ts'
import { freePort } from '../free-port.ts'
import { askUdp, frame, queryWith, TcpClient, within } from '../server/clients.ts'
import { findMissing } from './programs.ts'

const KUBEDOH = join(ROOT, 'bin/kubedoh')
/** Opens sockets as systemd does, then becomes the server: they are its descriptors 3 and 4. */
const ACTIVATE = `
import os, socket, sys
port, udp_address = int(sys.argv[1]), sys.argv[2]
sockets = [socket.socket(type=socket.SOCK_DGRAM), socket.socket()]
sockets[1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
sockets[0].bind((udp_address, port))
sockets[1].bind(('127.0.0.1', port))
sockets[1].listen()
for i, one in enumerate(sockets):
    os.dup2(one.fileno(), 20 + i)
for i in range(2):
    os.dup2(20 + i, 3 + i, inheritable=True)
os.closerange(5, 64)
os.environ.update(LISTEN_FDS='2', LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[3], sys.argv[3:])
`
/** Prints the messages to a notification socket. */
const LISTEN = `
import socket, sys
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.bind(sys.argv[1])
print('listening', flush=True)
while True:
    print(notify.recv(4096).decode().replace('\\n', ' '), flush=True)
`
const A = ['a.example.org. 60 IN A 192.0.2.1']

function corefileAt(t: TestContext, port: number): string {
  const answer = 'a.example.org. 60 IN A 192.0.2.1'
  const lines = ['bind 127.0.0.1', `template IN A example.org {\n answer "${answer}"\n }`]
  const folder = temporaryFolder(t, { Corefile: `.:${port} {\n ${lines.join('\n ')}\n}\n` })
  return join(folder, 'Corefile')
}

/** Runs a program until the test ends; collects what it writes. */
function start(t: TestContext, command: readonly string[], env: Record<string, string> = {}) {
  const [program = '', ...args] = command
  const child = spawn(program, args, { env: { ...process.env, ...env } })
  t.onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let text = ''
  let look = (): void => undefined
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += String(chunk)
      look()
    })
  }
  const shows = (pattern: RegExp): Promise<string> =>
    within(
      new Promise<string>((resolve) => {
        look = () => {
          if (pattern.test(text)) resolve(text)
        }
        look()
      }),
      `${pattern} in ${command.join(' ')}`,
    ).catch((error: unknown) => assert.fail(`${error}: ${text}`))
  return { child, shows }
}

function ended(child: ChildProcess): Promise<number | null> {
  return within(new Promise((resolve) => child.once('exit', resolve)), 'the end')
}

/** Checks that the server answers over UDP and TCP. */
async function checkAnswers(port: number): Promise<void> {
  const udp = (await askUdp('127.0.0.1', port, queryWith(1))).message
  const client = await TcpClient.open(port)
  client.socket.write(frame(queryWith(1)))
  const [tcp] = await client.messages(1)
  client.socket.destroy()
  for (const message of [udp, tcp]) {
    assert.deepEqual(message && parseResponse(message)?.answer.map(formatRecord), A)
  }
}

const missing = ['systemd-analyze', 'python3', 'setpriv', 'unshare', 'nsenter', 'ip', 'dig']
  .map(findMissing)
  .find((reason) => reason !== undefined)
const needsRoot = process.getuid?.() === 0 ? undefined : 'needs root, for capabilities and mounts'

describeUnless(missing, 'systemd', () => {
  test('accepts the units of docs/operations.md', (t) => {
    const units = [...read('docs/operations.md').matchAll(/```ini\n([\s\S]*?)```/g)]
    const [socket = '', service = ''] = units.map(([, text = '']) => text)
    const folder = temporaryFolder(t, {
      'kubedoh.socket': socket,
      'kubedoh.service': service.replace('/usr/local/bin/kubedoh', KUBEDOH),
    })
    const paths = ['kubedoh.socket', 'kubedoh.service'].map((name) => join(folder, name))
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], {
      encoding: 'utf8',
    })
    const ours = stderr.split('\n').filter((line) => line.includes('kubedoh'))
    assert.deepEqual(ours, [])
  })

  test('passes sockets, which the server uses in place of its own', async (t) => {
    const port = await freePort()
    const serve = [KUBEDOH, 'serve', '--conf', corefileAt(t, port)]
    const { child, shows } = start(t, ['python3', '-c', ACTIVATE, `${port}`, '127.0.0.1', ...serve])
    await shows(/ready: DNS on port/)
    await checkAnswers(port)
    child.kill('SIGTERM')
    assert.equal(await ended(child), 0)
  })

  test('passes a socket that no block binds: the server says so and ends', async (t) => {
    const port = await freePort()
    const serve = [KUBEDOH, 'serve', '--conf', corefileAt(t, port)]
    const { child, shows } = start(t, ['python3', '-c', ACTIVATE, `${port}`, '127.0.0.9', ...serve])
    const exit = ended(child)
    await shows(/systemd passed udp 127\.0\.0\.9 port \d+, which no server block binds; add "bind /)
    assert.equal(await exit, 1)
  })

  test('gets the reports of the server through systemd-notify', async (t) => {
    const path = join(temporaryFolder(t, {}), 'notify')
    const systemd = start(t, ['python3', '-c', LISTEN, path])
    await systemd.shows(/listening/)
    const port = await freePort()
    const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: '200000' }
    const server = start(t, [KUBEDOH, 'serve', '--conf', corefileAt(t, port)], env)
    await systemd.shows(/READY=1[\s\S]*WATCHDOG=1[\s\S]*WATCHDOG=1/)
    server.child.kill('SIGTERM')
    await systemd.shows(/STOPPING=1/)
    assert.equal(await ended(server.child), 0)
  })
})

describeUnless(missing ?? needsRoot, 'the least privileges', () => {
  test('serve port 53 without root, on a read-only file system', async (t) => {
    const folder = temporaryFolder(t, {})
    const corefile = corefileAt(t, 53)
    chmodSync(join(corefile, '..'), 0o755)
    mkdirSync(join(folder, 'root'))
    // A mount, network and PID namespace of its own; every file system in it is read-only.
    const script = `
      ip link set lo up
      mount --make-rprivate /
      findmnt -rno TARGET -t noproc,nosysfs | while read -r target; do
        mount -o remount,bind,ro "$target" 2>/dev/null || true
      done
      if touch ${folder}/probe 2>/dev/null; then echo writable; exit 1; fi
      exec setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs \\
        --bounding-set -all,+net_bind_service --inh-caps -all,+net_bind_service \\
        --ambient-caps -all,+net_bind_service "$@"`
    writeFileSync(join(folder, 'run.sh'), script)
    const { child, shows } = start(t, [
      ...['unshare', '--mount', '--net', 'sh', join(folder, 'run.sh')],
      ...[KUBEDOH, 'serve', '--conf', corefile],
    ])
    await shows(/ready: DNS on port 53/)
    const inside = ['nsenter', '-t', `${child.pid}`, '--net', 'dig', '@127.0.0.1', '+short']
    const { stdout } = spawnSync(inside[0] ?? '', [...inside.slice(1), 'a.example.org'], {
      encoding: 'utf8',
    })
    assert.equal(stdout, '192.0.2.1\n')
    const status = spawnSync('cat', [`/proc/${child.pid}/status`], { encoding: 'utf8' }).stdout
    assert.match(status, /^Uid:\t65532\t/m)
    assert.match(status, /^CapEff:\t0000000000000400$/m)
    child.kill('SIGTERM')
    assert.equal(await ended(child), 0)
  })
})
