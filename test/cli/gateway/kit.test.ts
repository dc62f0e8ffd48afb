import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'vitest'
import { AUTHORITY, SERVER } from '../../certificates.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { ADMIN, startOperatedGateway } from '../operated-gateway.ts'
import { failed, type Ran, runCli } from '../run-cli.ts'

const COREFILE = '. {\n  kubernetes prod.test lab.test in-addr.arpa\n}\n'
const KEY = `{"publicKey":"${'A'.repeat(43)}","tokenSha256":"${'0'.repeat(64)}"}`

type Started = {
  readonly url: string
  /** Has the files `ca.pem`, `cert.pem` and `key.pem`, and room for kits. */
  readonly folder: string
  /** Runs `token create` with more flags. */
  readonly create: (...flags: readonly string[]) => Promise<Ran>
}

/** Starts a gateway over TLS. */
async function start(t: TestContext): Promise<Started> {
  const variables = { COREFILE, CLUSTERS: `{"prod":${KEY}}` }
  const tls = { ...SERVER, clientAuth: 'nocert' } as const
  const url = `https://localhost:${await startOperatedGateway(t, variables, { tls })}`
  const pems = { 'ca.pem': AUTHORITY, 'cert.pem': SERVER.cert, 'key.pem': SERVER.key }
  const folder = temporaryFolder(t, pems)
  const create = (...flags: readonly string[]): Promise<Ran> => {
    const args = ['token', 'create', '--gateway', url, '--ca', join(folder, 'ca.pem'), ...flags]
    return runCli(args, { KUBEDOH_ADMIN_TOKEN: ADMIN })
  }
  return { url, folder, create }
}

test('a kit is for the domains that the token sees, and for its owner only', async (t) => {
  const { url, folder, create } = await start(t)
  const kit = join(folder, 'a/kit')
  const { status, stdout, stderr } = await create('--origins', 'lab.test', '--kit', kit)
  assert.equal(status, 0)
  assert.ok(stderr.endsWith(`set-up files for devices are in ${kit}; begin with README.md there\n`))
  const policy = JSON.parse(readFileSync(join(kit, 'chromium-policies.json'), 'utf8'))
  assert.equal(policy.DnsOverHttpsTemplates, `${url}/t/${stdout.trim()}/dns-query{?dns}`)
  const profile = readFileSync(join(kit, 'apple.mobileconfig'), 'utf8')
  const [, strings = ''] = /<array>\s+((?:<string>\S+<\/string>\s+)+)<\/array>/.exec(profile) ?? []
  assert.equal(strings.trim(), '<string>lab.test</string>')
  const modes = ['', ...readdirSync(kit)].map((name) => statSync(join(kit, name)).mode & 0o777)
  assert.deepEqual([modes[0], ...new Set(modes.slice(1))], [0o700, 0o600])
})

test('--domain replaces the domains of the token', async (t) => {
  const { folder, create } = await start(t)
  const kit = join(folder, 'kit')
  await create('--kit', kit, '--domain', 'one.test', '--domain', 'two.test')
  assert.match(readFileSync(join(kit, 'README.md'), 'utf8'), /^# Names of one\.test, two\.test\n/)
})

test('a token that sees no domain is printed, and its kit is an error', async (t) => {
  const { folder, create } = await start(t)
  const { status, stdout, stderr } = await create('--origins', 'x', '--kit', join(folder, 'kit'))
  assert.equal(status, 1)
  assert.match(stdout, /^kdt_/)
  assert.match(stderr, /^kubedoh: The token sees no domain of a cluster; pass --domain$/m)
})

test('an invalid kit stops the command before it creates a token', async (t) => {
  const { url, folder, create } = await start(t)
  const cases: [flags: readonly string[], line: string][] = [
    [['--kit', folder], `kubedoh: --kit ${folder} is not empty; name a new folder`],
    [
      ['--kit', join(folder, 'ca.pem')],
      `kubedoh: --kit ${folder}/ca.pem: ENOTDIR: not a directory, scandir '${folder}/ca.pem'`,
    ],
    [
      ['--kit', join(folder, 'kit'), '--domain', 'a b'],
      'kubedoh: --kit: "a b" is not a domain such as prod.example.org',
    ],
    [
      ['--kit', join(folder, 'kit'), '--tls-cert', 'cert.pem'],
      'kubedoh: --tls-cert and --tls-key sign the profile together: pass both',
    ],
    [
      ['--kit', join(folder, 'kit'), '--gateway', 'http://localhost:1'],
      'kubedoh: --kit: "http://localhost:1" is not a URL such as https://dns.example.org: ' +
        'devices send DNS over HTTPS to https:// URLs only',
    ],
  ]
  for (const [flags, line] of cases) assert.deepEqual(await create(...flags), failed(line))
  const args = ['token', 'list', '--gateway', url, '--ca', join(folder, 'ca.pem')]
  const { stdout } = await runCli(args, { KUBEDOH_ADMIN_TOKEN: ADMIN })
  assert.equal(stdout.trimEnd().split('\n').length, 1)
})

test('a profile that cannot be signed is an error', async (t) => {
  const { folder, create } = await start(t)
  const [cert, kit] = [join(folder, 'cert.pem'), join(folder, 'kit')]
  const files = ['--kit', kit, '--tls-cert', cert, '--tls-key', join(folder, 'none.pem')]
  const { status, stderr } = await create(...files)
  assert.equal(status, 1)
  assert.match(stderr, /^kubedoh: --kit .*: openssl cannot sign apple\.mobileconfig: .+$/m)
  assert.ok(!readdirSync(kit).includes('apple.mobileconfig'))
})
