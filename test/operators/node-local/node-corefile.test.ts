import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { problemsOfGenerated } from '../../../src/cli/serve/check.ts'
import {
  type Generated,
  generateCorefile,
  NodeCorefile,
  type NodeCorefileOptions,
} from '../../../src/operators/node-local/node-corefile.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

const TEMPLATE = `__PILLAR__DNS__DOMAIN__:53 {
    bind __PILLAR__LOCAL__DNS__ __PILLAR__DNS__SERVER__
    forward . __PILLAR__CLUSTER__DNS__
    health __PILLAR__LOCAL__DNS__:8080
}
.:53 {
    bind __PILLAR__LOCAL__DNS__ __PILLAR__DNS__SERVER__
    forward . __PILLAR__UPSTREAM__SERVERS__
}
`

function setUp(t: TestContext, more: Partial<NodeCorefileOptions> = {}) {
  const folder = temporaryFolder(t, { base: TEMPLATE })
  const options: NodeCorefileOptions = {
    template: join(folder, 'base'),
    corefile: join(folder, 'Corefile'),
    configMap: join(folder, 'kube-dns'),
    addresses: ['169.254.20.10', 'fd00::a'],
    domain: 'cluster.local',
    dnsPort: 53,
    clusterDns: '10.96.0.11',
    ...more,
  }
  const setConfigMap = (files: Readonly<Record<string, string>>): void => {
    const { configMap } = options
    mkdirSync(configMap, { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(configMap, name), text)
  }
  return { options, setConfigMap }
}

function generate(options: NodeCorefileOptions): Promise<Generated | undefined> {
  return generateCorefile(options, checkOf(options))
}

function checkOf({ corefile: path, dnsPort }: NodeCorefileOptions) {
  return (text: string) => problemsOfGenerated({ text, path, dnsPort })
}

/** A Corefile with what it logged, and how many errors it counted. */
function corefileOf(options: NodeCorefileOptions) {
  const messages: string[] = []
  const counted = { errors: 0 }
  const corefile = new NodeCorefile(options, {
    check: checkOf(options),
    log: ({ message }) => void messages.push(message),
    onError: () => void counted.errors++,
  })
  return { corefile, messages, counted, read: () => readFileSync(options.corefile, 'utf8') }
}

const FILLED = `cluster.local:53 {
    bind 169.254.20.10 fd00::a${' '}
    forward . 10.96.0.11
    health 169.254.20.10:8080
}
.:53 {
    bind 169.254.20.10 fd00::a${' '}
    forward . /etc/resolv.conf
}
`

describe('generateCorefile', () => {
  test('fills each placeholder', async (t) => {
    const { options } = setUp(t)
    assert.deepEqual(await generate(options), {
      text: FILLED,
      problems: [],
      notices: [],
      configMapError: undefined,
    })
  })

  test('puts an IPv6 address in brackets before a port', async (t) => {
    const { options } = setUp(t, { addresses: ['fd00::a'] })
    assert.match((await generate(options))?.text ?? '', /health \[fd00::a\]:8080/)
  })

  test('adds stub domains and upstreams of the ConfigMap', async (t) => {
    const { options, setConfigMap } = setUp(t, { dnsPort: 1053 })
    setConfigMap({
      stubDomains: '{"corp.example": ["192.0.2.1"]}',
      upstreamNameservers: '["192.0.2.2", "192.0.2.3"]',
    })
    const text = (await generate(options))?.text ?? ''
    assert.match(text, /forward \. 192\.0\.2\.2 192\.0\.2\.3\n/)
    const stub = text.slice(text.indexOf('corp.example')).replace(/^\s+/gm, '')
    const bound = 'bind 169.254.20.10 fd00::a'
    assert.equal(stub, `corp.example:1053 {\nerrors\ncache 30\n${bound}\nforward . 192.0.2.1\n}\n`)
  })

  test('binds stub domains without placeholders for addresses', async (t) => {
    const { options, setConfigMap } = setUp(t)
    writeFileSync(options.template, '.:53 {\n}\n')
    setConfigMap({ stubDomains: '{"corp.example": ["192.0.2.1"]}' })
    assert.match((await generate(options))?.text ?? '', /bind 169\.254\.20\.10 fd00::a\n/)
  })

  test('leaves an invalid ConfigMap out, and says why', async (t) => {
    const { options, setConfigMap } = setUp(t)
    setConfigMap({ stubDomains: '{' })
    assert.deepEqual(await generate(options), {
      text: FILLED,
      problems: [],
      notices: [],
      configMapError: 'stubDomains is not JSON',
    })
  })

  // What kubernetes/dns ignores, and what only the whole Corefile shows.
  const stub = (value: unknown): Record<string, string> => ({ stubDomains: JSON.stringify(value) })
  const bad: readonly (readonly [files: Record<string, string>, reason: RegExp])[] = [
    [stub({ 'acme.example': ['10.0.0.1:abc'] }), /^stubDomains: "acme.example": "10.0.0.1:abc" is/],
    [stub({ 'acme.example': ['bad host!'] }), /^stubDomains: "acme.example": "bad host!" is not/],
    [stub({ 'bad..zone': ['10.0.0.1'] }), /^stubDomains: "bad..zone" is not a zone/],
    [stub({ '.': ['10.0.0.1'] }), /^stubDomains: "." is not a zone/],
    [stub({ 'a.b': ['10.0.0.1'], 'A.b': ['10.0.0.2'] }), /^stubDomains: "A.b" is not a zone/],
    [
      stub({ 'a.b': ['10.0.0.1\n}\n'] }),
      /^stubDomains: "a.b": "10.0.0.1\\n}\\n" is not an address/,
    ],
    [
      stub({ 'a.b': ['ns.example.org'] }),
      /^stubDomains: "a.b": "ns.example.org" is not an address/,
    ],
    [stub({ 'cluster.local': ['10.0.0.1'] }), /^stubDomains: zone "cluster.local." is served at/],
    [stub({ 'a.b': Array(16).fill('10.0.0.1') }), /^stubDomains: 16 upstreams, at most 15/],
    [{ upstreamNameservers: '["not an ip"]' }, /^upstreamNameservers: "not an ip" is not an/],
    [{ upstreamNameservers: '["1.1.1.1 {"]' }, /^upstreamNameservers: "1.1.1.1 {" is not an/],
    [
      { ...stub({ 'cluster.local': ['10.0.0.1'] }), upstreamNameservers: '["192.0.2.1"]' },
      /^stubDomains: zone "cluster.local." is served/,
    ],
  ]
  for (const [files, reason] of bad) {
    test(`starts without ${JSON.stringify(files).slice(0, 80)}`, async (t) => {
      const { options, setConfigMap } = setUp(t)
      setConfigMap(files)
      const generated = await generate(options)
      assert.equal(generated?.text, FILLED)
      assert.match(generated?.configMapError ?? '', reason)
    })
  }

  test('knows the port of zones without one', async (t) => {
    const { options, setConfigMap } = setUp(t, { dnsPort: 1053 })
    writeFileSync(options.template, 'a.test {\n  bind __PILLAR__LOCAL__DNS__\n}\n')
    setConfigMap(stub({ 'a.test': ['192.0.2.1'] }))
    const reason = /^stubDomains: zone "a.test." is served at port 1053 already/
    assert.match((await generate(options))?.configMapError ?? '', reason)
  })

  test('needs a template', async (t) => {
    assert.equal(await generate(setUp(t, { template: '/nonexistent' }).options), undefined)
  })
})

describe('NodeCorefile', () => {
  test('writes the Corefile again when its parts change', async (t) => {
    const { options, setConfigMap } = setUp(t)
    const { corefile, messages, counted, read } = corefileOf(options)
    const generated = `generated ${options.corefile}`
    await corefile.start()
    assert.equal(read(), FILLED)
    assert.equal(await corefile.update(), false)
    assert.deepEqual(messages.splice(0), [generated])

    setConfigMap({ upstreamNameservers: '["192.0.2.2"]' })
    assert.equal(await corefile.update(), true)
    assert.match(read(), /forward \. 192\.0\.2\.2\n/)
    assert.deepEqual(messages.splice(0), [generated])

    setConfigMap({ upstreamNameservers: '["192.0.2.2"' })
    assert.equal(await corefile.update(), false)
    assert.match(read(), /forward \. 192\.0\.2\.2\n/)
    assert.equal(await corefile.update(), false)
    const reason = 'upstreamNameservers is not JSON'
    assert.deepEqual(messages.splice(0), [`ignored ${options.configMap}: ${reason}`])
    assert.equal(counted.errors, 2)

    writeFileSync(options.template, '__PILLAR__NONE__')
    assert.equal(await corefile.update(), false)
    assert.match(messages.join(), /^cannot generate a Corefile: .*not a placeholder/)
    assert.equal(counted.errors, 3)
  })

  test('keeps a valid Corefile while its parts are broken', async (t) => {
    const { options, setConfigMap } = setUp(t)
    const { corefile, messages, counted, read } = corefileOf(options)
    await corefile.start()
    setConfigMap({ stubDomains: '{"cluster.local": ["192.0.2.1"]}' })
    messages.splice(0)
    assert.equal(await corefile.update(), false)
    assert.match(messages.splice(0).join(), /^ignored .*: stubDomains: zone "cluster.local." is/)
    assert.equal(read(), FILLED)
    rmSync(options.configMap, { recursive: true })

    writeFileSync(options.template, '.:53 {\n    nonsense\n}\n')
    assert.equal(await corefile.update(), false)
    assert.equal(await corefile.update(), false)
    const kept = /^.*base gives no valid .*Corefile; the previous one stays: .*:2:5: .*nonsense/
    assert.match(messages.join(), kept)
    assert.equal(messages.length, 1)
    assert.equal(counted.errors, 3)
    assert.equal(read(), FILLED)

    const again = corefileOf(options)
    await again.corefile.start()
    assert.match(again.messages.join(), kept)
    assert.equal(again.read(), FILLED)
  })

  test('does not start with a broken template alone', async (t) => {
    const { options } = setUp(t)
    writeFileSync(options.template, '.:53 {\n    nonsense\n}\n')
    const { corefile } = corefileOf(options)
    await assert.rejects(corefile.start(), { name: 'ConfigError' })
    writeFileSync(options.corefile, 'nonsense {')
    await assert.rejects(corefile.start(), { name: 'ConfigError' })
  })

  test('uses a Corefile as it is if there is no template', async (t) => {
    const { options } = setUp(t)
    rmSync(options.template)
    const { corefile } = corefileOf(options)
    await assert.rejects(corefile.start(), /no such file$/)
    writeFileSync(options.corefile, '.:53 {\n}\n')
    await corefile.start()
    assert.equal(await corefile.update(), false)
    assert.equal(readFileSync(options.corefile, 'utf8'), '.:53 {\n}\n')
  })
})
