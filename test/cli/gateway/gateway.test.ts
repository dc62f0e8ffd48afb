import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, type TestContext, test, vi } from 'vitest'
import { Input } from '../../../src/cli/flags/flags.ts'
import { type RunningGateway, startNodeGateway } from '../../../src/cli/gateway/gateway.ts'
import { main } from '../../../src/cli/main.ts'
import { RCODE } from '../../../src/dns/names/rcode.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { AUTHORITY, SERVER, STRANGER } from '../../certificates.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { within } from '../../server/clients.ts'
import { failed, runCli, Screen } from '../run-cli.ts'

const ADMIN = 'the-token-of-the-operator'
const KEYS = { publicKey: 'A'.repeat(43), tokenSha256: '0'.repeat(64) }
const CLUSTERS = JSON.stringify({ prod: KEYS })
const NAMES = '. {\n  kubernetes cluster.local\n}\n'

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}

async function createToken(url: string): Promise<{ token: string }> {
  const response = await fetch(`${url}/v1/tokens`, { method: 'POST', headers: bearer(ADMIN) })
  return JSON.parse(await response.text())
}

/** Starts a gateway on files; FOLDER in its flags is theirs. */
async function start(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  flags: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<{ running: RunningGateway; screen: Screen; folder: string }> {
  const folder = temporaryFolder(t)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const words = flags.split(' ').filter((word) => word !== '')
  const given = new Map([
    ['conf', [join(folder, 'Corefile')]],
    ['listen', ['127.0.0.1:0']],
    ...words.flatMap((word, i) =>
      i % 2 === 0
        ? [[word.slice(2), [(words[i + 1] ?? '').replace('FOLDER', folder)]] as const]
        : [],
    ),
  ])
  const screen = new Screen()
  const ADMIN_TOKEN_SHA256 = await hashToken(ADMIN)
  const environment = { PUBLIC: 'true', ADMIN_TOKEN_SHA256, ...variables }
  const running = await startNodeGateway(new Input([], given, environment), screen)
  let isStopped = false
  const stop = async (): Promise<void> => {
    if (!isStopped) await running.stop()
    isStopped = true
  }
  t.onTestFinished(stop)
  return { running: { ...running, stop }, screen, folder }
}

describe('kubedoh gateway', () => {
  test('answers until it is stopped', async (t) => {
    const folder = temporaryFolder(t)
    const conf = join(folder, 'Corefile')
    writeFileSync(conf, '. {\n  whoami\n}\n')
    const screen = new Screen()
    const args = ['gateway', '--conf', conf, '--listen', '127.0.0.1:0']
    const ended = main(args, screen, { PUBLIC: 'true' })
    const [, url = ''] = await screen.shows('stdout', /^ready: DNS over HTTP on (\S+)\n/)
    const response = await fetch(`${url}?name=a.test`)
    assert.equal(response.status, 200)
    process.emit('SIGTERM')
    assert.equal(await within(ended, 'the end of the gateway'), 0)
  })

  test('names the address of DNS over TLS when it is ready', async (t) => {
    const folder = temporaryFolder(t, { Corefile: '. {\n  whoami\n}\n', ...SERVER })
    const at = (name: string): string => join(folder, name)
    const args = ['gateway', '--conf', at('Corefile'), '--listen', '127.0.0.1:0']
    const tls = ['--dot.listen', '127.0.0.1:0', '--tls-cert', at('cert'), '--tls-key', at('key')]
    const screen = new Screen()
    const ended = main([...args, ...tls], screen, { PUBLIC: 'true' })
    const [, port] = await screen.shows('stdout', /, DNS over TLS on 127\.0\.0\.1:(\d+)\n/)
    assert.notEqual(port, '0')
    process.emit('SIGTERM')
    assert.equal(await within(ended, 'the end of the gateway'), 0)
  })

  test('warns about the memory store', async (t) => {
    const { running, screen } = await start(t, { Corefile: '. {\n  whoami\n}\n' }, '')
    assert.match(
      screen.text.stderr,
      /"level":"warning","message":"--store memory: a restart forgets/,
    )
    await running.stop()
    const kept = await start(t, { Corefile: '. {\n  whoami\n}\n' }, '--store file:FOLDER/store')
    assert.equal(kept.screen.text.stderr, '')
  })

  test('follows another gateway with the token in a file, also over a reload', async (t) => {
    const files = { Corefile: '. {\n  whoami\n}\n' }
    const primary = await start(t, files, '', { REPLICA_TOKEN_SHA256: await hashToken('secret') })
    const { token } = await createToken(primary.running.url)
    const folder = temporaryFolder(t)
    const path = join(folder, 'token')
    writeFileSync(path, 'secret\n')
    const variables = { PUBLIC: '', KUBEDOH_REPLICA_TOKEN_FILE: path }
    const replica = await start(t, files, `--follow ${primary.running.url}`, variables)
    const ask = async (sent: string): Promise<number> => {
      const url = `${replica.running.url}/resolve?name=a.test`
      return (await fetch(url, { headers: bearer(sent) })).status
    }
    for (let i = 0; i < 2; i++) {
      assert.deepEqual([await ask(token), await ask(`${token}x`)], [200, 401])
      await replica.running.reload()
    }
    assert.doesNotMatch(replica.screen.text.stderr, /memory|"error"/)
  })

  test('follows one whose certificate has an authority of its own, by KUBEDOH_CA', async (t) => {
    const trusted = getCACertificates('default')
    t.onTestFinished(() => setDefaultCACertificates(trusted))
    const files = { Corefile: NAMES, cert: SERVER.cert, key: SERVER.key }
    const flags = '--tls-cert FOLDER/cert --tls-key FOLDER/key'
    const primary = await start(t, files, flags, {
      REPLICA_TOKEN_SHA256: await hashToken('secret'),
      CLUSTERS,
    })
    const ca = join(primary.folder, 'ca')
    writeFileSync(ca, AUTHORITY)
    const variables = { PUBLIC: '', KUBEDOH_REPLICA_TOKEN: 'secret', CLUSTERS }
    const readiness = async (more: Readonly<Record<string, string>>): Promise<number> => {
      const follow = `--follow ${primary.running.url}`
      const { running } = await start(t, { Corefile: NAMES }, follow, { ...variables, ...more })
      const { status } = await fetch(`${running.url}/ready`)
      await running.stop()
      return status
    }
    assert.equal(await readiness({}), 503)
    assert.equal(await readiness({ KUBEDOH_CA: ca }), 200)
    const prints = (all: readonly string[]): readonly string[] => [
      ...new Set(all.map((one) => new X509Certificate(one).fingerprint256)),
    ]
    const both = prints([...trusted, AUTHORITY])
    assert.deepEqual(prints(getCACertificates('default')).toSorted(), both.toSorted())
  })

  test('reloads a changed Corefile, and keeps the previous one if it is invalid', async (t) => {
    const { running, screen, folder } = await start(t, { Corefile: '. {\n  any\n}\n' }, '')
    const ask = async (): Promise<number> => {
      const response = await fetch(`${running.url}/resolve?name=a.test`)
      const { Status }: { Status: number } = JSON.parse(await response.text())
      return Status
    }
    const before = await ask()
    const { token } = await createToken(running.url)
    writeFileSync(join(folder, 'Corefile'), '. {\n  nonsense\n}\n')
    await running.reload()
    assert.match(
      screen.text.stderr,
      /"the Corefile is not used; the previous one stays","reason":".*:2:3/,
    )
    assert.equal(await ask(), before)
    writeFileSync(join(folder, 'Corefile'), '. {\n  acl {\n    block\n  }\n}\n')
    await running.reload()
    assert.match(screen.text.stderr, /"level":"info","message":"reloaded the Corefile"/)
    assert.equal(await ask(), RCODE.REFUSED)
    const tokens = await fetch(`${running.url}/v1/tokens`, { headers: bearer(ADMIN) })
    assert.match(await tokens.text(), new RegExp(`"id":"${token.split('_')[1]}"`))
  })

  test('reloads a changed certificate, and keeps the previous one while files do not match', async (t) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const files = { Corefile: '. {\n  whoami\n}\n', cert: SERVER.cert, key: SERVER.key }
    const flags = '--tls-cert FOLDER/cert --tls-key FOLDER/key'
    const { running, screen, folder } = await start(t, files, flags)
    const shown = async (): Promise<string> => {
      const port = Number(new URL(running.url).port)
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
      await once(socket, 'secureConnect')
      const { fingerprint256 } = socket.getPeerCertificate()
      socket.destroy()
      return fingerprint256
    }
    const first = await shown()
    writeFileSync(join(folder, 'cert'), STRANGER.cert)
    vi.advanceTimersByTime(10_000)
    await screen.shows('stderr', /the changed certificate is not used; the previous one stays/)
    assert.equal(await shown(), first)
    writeFileSync(join(folder, 'key'), STRANGER.key)
    vi.advanceTimersByTime(10_000)
    await screen.shows('stderr', /reloaded the changed certificate/)
    assert.equal(await shown(), new X509Certificate(STRANGER.cert).fingerprint256)
  })

  const cases: { name: string; files?: Record<string, string>; flags: string; line: string }[] = [
    { name: 'a missing Corefile', flags: '', line: 'Cannot read Corefile: no such file' },
    {
      name: 'a store that is a file',
      files: { Corefile: '. {\n}\n' },
      flags: '--store file:Corefile/inside',
      line: 'Cannot use --store file:',
    },
    {
      name: 'an address in the clear',
      files: { Corefile: '. {\n}\n' },
      flags: '--listen 0.0.0.0:0',
      line:
        '--listen 0.0.0.0:0 would send tokens and responses unencrypted; pass --tls-cert and ' +
        '--tls-key, put a TLS proxy before a loopback address, or pass --insecure',
    },
    {
      name: 'half of TLS',
      files: { Corefile: '. {\n}\n', cert: SERVER.cert },
      flags: '--tls-cert cert',
      line: '--tls-cert and --tls-key go together',
    },
    {
      name: 'a key of another certificate',
      files: { Corefile: '. {\n}\n', cert: AUTHORITY, key: SERVER.key },
      flags: '--tls-cert cert --tls-key key',
      line: '--tls-cert and --tls-key cannot be used: ',
    },
    {
      name: 'a store of another kind',
      files: { Corefile: '. {\n}\n' },
      flags: '--store gs:x',
      line: '--store is "gs:x", expected file:FOLDER, s3://BUCKET/PREFIX or memory',
    },
    {
      name: 'to follow without a token',
      files: { Corefile: '. {\n}\n' },
      flags: '--follow https://dns.example.org',
      line: 'KUBEDOH_REPLICA_TOKEN has no token; create one with "kubedoh keys --replica"',
    },
    {
      name: 'to follow in the clear',
      files: { Corefile: '. {\n}\n' },
      flags: '--follow http://dns.example.org',
      line:
        '--follow http://dns.example.org would send the token unencrypted; use https:// or set ' +
        'KUBEDOH_INSECURE=1',
    },
    {
      name: 'to follow what is no URL',
      files: { Corefile: '. {\n}\n' },
      flags: '--follow dns.example.org',
      line: '--follow "dns.example.org" is not a URL such as https://dns.example.org',
    },
    {
      name: 'to follow with a store',
      files: { Corefile: '. {\n}\n' },
      flags: '--follow https://dns.example.org --store file:x',
      line: '--follow and --store exclude each other: a replica keeps nothing',
    },
  ]
  for (const { name, files = {}, flags, line } of cases) {
    test(`refuses ${name}`, async (t) => {
      const folder = temporaryFolder(t)
      for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
      const place = (word: string): string =>
        /^(cert|key)$/.test(word) ? join(folder, word) : word.replace('file:', `file:${folder}/`)
      const words = flags === '' ? [] : flags.split(' ').map(place)
      const ran = await runCli(['gateway', '--conf', join(folder, 'Corefile'), ...words])
      const stderr = ran.stderr.replaceAll(`${folder}/`, '')
      if (line.endsWith(' ')) assert.ok(stderr.startsWith(`kubedoh: ${line}`), stderr)
      else assert.match(stderr, new RegExp(`^kubedoh: ${line.replace(/[.*+?()[\]]/g, '\\$&')}`))
      assert.deepEqual({ ...ran, stderr: '' }, { ...failed(), stderr: '' })
      assert.equal(stderr.trimEnd().split('\n').length, 1)
    })
  }

  test('reports an empty Corefile with file and line', async (t) => {
    const conf = join(temporaryFolder(t), 'Corefile')
    writeFileSync(conf, '')
    const { status, stderr } = await runCli(['gateway', '--conf', conf])
    assert.equal(status, 1)
    assert.ok(stderr.startsWith(`${conf}:1:1: no server block`), stderr)
  })

  test('prints each error in the Corefile on a line', async (t) => {
    const corefile = '. {\n  nonsense\n  health\n  kubernetes a.test\n}\n'
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'Corefile'), corefile)
    const { status, stderr } = await runCli(['gateway', '--conf', join(folder, 'Corefile')])
    assert.equal(status, 1)
    assert.deepEqual(stderr.replaceAll(`${folder}/`, '').trimEnd().split('\n'), [
      'Corefile:2:3: there is no plugin "nonsense"; CoreDNS has none of this name either',
      'Corefile:4:3: add the cluster to read: "cluster ID"; CLUSTERS has none',
    ])
  })
})
