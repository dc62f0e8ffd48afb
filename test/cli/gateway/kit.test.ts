import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'vitest'
import { generateKeyPair } from '../../../src/snapshot/format/signature.ts'
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
  /** The variables of an operator. */
  readonly environment: Readonly<Record<string, string>>
  /** Runs `token create` with more flags and variables. */
  readonly create: (
    flags: readonly string[],
    variables?: Readonly<Record<string, string>>,
  ) => Promise<Ran>
}

/** Starts a gateway over TLS. */
async function start(
  t: TestContext,
  more: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const variables = { COREFILE, CLUSTERS: `{"prod":${KEY}}`, ...more }
  const tls = { ...SERVER, clientAuth: 'nocert' } as const
  const url = `https://localhost:${await startOperatedGateway(t, variables, { tls })}`
  const pems = { 'ca.pem': AUTHORITY, 'cert.pem': SERVER.cert, 'key.pem': SERVER.key }
  const folder = temporaryFolder(t, pems)
  const environment = { KUBEDOH_ADMIN_TOKEN: ADMIN, KUBEDOH_CA: join(folder, 'ca.pem') }
  const create: Started['create'] = (flags, variables = {}) => {
    const args = ['token', 'create', '--gateway', url, ...flags]
    return runCli(args, { ...environment, ...variables })
  }
  return { folder, environment, url, create }
}

test('a kit is for the domains that the token sees, and for its owner only', async (t) => {
  const { url, folder, create } = await start(t)
  const kit = join(folder, 'a/kit')
  const { status, stdout, stderr } = await create(['--origins', 'lab.test', '--kit', kit])
  assert.equal(status, 0)
  assert.ok(stderr.endsWith(`set-up files for devices are in ${kit}; begin with README.md there\n`))
  // curl reads no KUBEDOH_CA.
  assert.ok(
    stderr.includes(`\n  curl --cacert "${join(folder, 'ca.pem')}" -H "Authorization: `),
    stderr,
  )
  const policy = JSON.parse(readFileSync(join(kit, 'chromium-policies.json'), 'utf8'))
  assert.equal(policy.DnsOverHttpsTemplates, `${url}/t/${stdout.trim()}/dns-query{?dns}`)
  const profile = readFileSync(join(kit, 'apple.mobileconfig'), 'utf8')
  const [, strings = ''] = /<array>\s+((?:<string>\S+<\/string>\s+)+)<\/array>/.exec(profile) ?? []
  assert.equal(strings.trim(), '<string>lab.test</string>')
  const modes = ['', ...readdirSync(kit)].map((name) => statSync(join(kit, name)).mode & 0o777)
  assert.deepEqual([modes[0], ...new Set(modes.slice(1))], [0o700, 0o600])
})

test('an operator gets a kit whose jobs need no secret, where the gateway knows them', async (t) => {
  const rules = [{ when: { repository: 'acme/shop' }, namespaces: ['*'] }]
  const github = {
    issuer: 'https://token.actions.githubusercontent.com',
    audiences: ['jobs'],
    rules,
  }
  const { privateKey: EXCHANGE_KEY } = await generateKeyPair()
  const more = { ISSUERS: JSON.stringify([github]), EXCHANGE_KEY }
  const { folder, create } = await start(t, more)
  const kit = join(folder, 'kit')
  await create(['--kit', kit])
  assert.match(readFileSync(join(kit, 'kubedoh-token.sh'), 'utf8'), /'audience=jobs'/)
})

test('KUBEDOH_KIT_DOMAINS replaces the domains of the token', async (t) => {
  const { folder, create } = await start(t)
  const kit = join(folder, 'kit')
  await create(['--kit', kit], { KUBEDOH_KIT_DOMAINS: 'one.test,two.test' })
  assert.match(readFileSync(join(kit, 'README.md'), 'utf8'), /^# Names of one\.test, two\.test\n/)
})

test('a token that sees no domain is printed, and its kit is an error', async (t) => {
  const { folder, create } = await start(t)
  const { status, stdout, stderr } = await create(['--origins', 'x', '--kit', join(folder, 'kit')])
  assert.equal(status, 1)
  assert.match(stdout, /^kdt_/)
  assert.match(
    stderr,
    /^kubedoh: No kit: the token sees no domain of a cluster\. Set KUBEDOH_KIT_DOMAINS .* revoke \w+$/m,
  )
})

test('an invalid kit stops the command before it creates a token', async (t) => {
  const { url, folder, environment, create } = await start(t)
  const kit = ['--kit', join(folder, 'kit')]
  const cases: [flags: readonly string[], line: string, Readonly<Record<string, string>>?][] = [
    [['--kit', folder], `kubedoh: --kit ${folder} is not empty; name a new folder`],
    [
      ['--kit', join(folder, 'ca.pem')],
      `kubedoh: --kit ${folder}/ca.pem: ENOTDIR: not a directory, scandir '${folder}/ca.pem'`,
    ],
    [
      kit,
      'kubedoh: --kit: "a b" is not a domain such as prod.example.org',
      { KUBEDOH_KIT_DOMAINS: 'a b' },
    ],
    [
      kit,
      'kubedoh: KUBEDOH_PROFILE_CERT and KUBEDOH_PROFILE_KEY belong together: set both',
      { KUBEDOH_PROFILE_CERT: 'cert.pem' },
    ],
    [
      [...kit, '--gateway', 'http://localhost:1'],
      'kubedoh: --kit: "http://localhost:1" is not a URL such as https://dns.example.org: ' +
        'devices send DNS over HTTPS to https:// URLs only',
    ],
  ]
  for (const [flags, line, variables] of cases) {
    assert.deepEqual(await create(flags, variables), failed(line))
  }
  const { stdout } = await runCli(['token', 'list', '--gateway', url], environment)
  assert.equal(stdout.trimEnd().split('\n').length, 1)
})

test('a profile that cannot be signed is an error', async (t) => {
  const { folder, create } = await start(t)
  const [cert, kit] = [join(folder, 'cert.pem'), join(folder, 'kit')]
  const { status, stderr } = await create(['--kit', kit], {
    KUBEDOH_PROFILE_CERT: cert,
    KUBEDOH_PROFILE_KEY: join(folder, 'none.pem'),
  })
  assert.equal(status, 1)
  assert.match(stderr, /^kubedoh: --kit .*: openssl cannot sign apple\.mobileconfig: .+$/m)
  assert.ok(!readdirSync(kit).includes('apple.mobileconfig'))
})
