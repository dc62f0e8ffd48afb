import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import {
  generateCorefile,
  NodeCorefile,
  type NodeCorefileOptions,
} from '../../src/node-local/node-corefile.ts'
import { temporaryFolder } from '../exporter/temporary-folder.ts'

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
  test('fills each placeholder', (t) => {
    const { options } = setUp(t)
    assert.deepEqual(generateCorefile(options), {
      text: FILLED,
      notices: [],
      configMapError: undefined,
    })
  })

  test('puts an IPv6 address in brackets before a port', (t) => {
    const { options } = setUp(t, { addresses: ['fd00::a'] })
    assert.match(generateCorefile(options)?.text ?? '', /health \[fd00::a\]:8080/)
  })

  test('adds stub domains and upstreams of the ConfigMap', (t) => {
    const { options, setConfigMap } = setUp(t, { dnsPort: 1053 })
    setConfigMap({
      stubDomains: '{"corp.example": ["192.0.2.1"]}',
      upstreamNameservers: '["192.0.2.2", "192.0.2.3"]',
    })
    const text = generateCorefile(options)?.text ?? ''
    assert.match(text, /forward \. 192\.0\.2\.2 192\.0\.2\.3\n/)
    const stub = text.slice(text.indexOf('corp.example')).replace(/^\s+/gm, '')
    const bound = 'bind 169.254.20.10 fd00::a'
    assert.equal(stub, `corp.example:1053 {\nerrors\ncache 30\n${bound}\nforward . 192.0.2.1\n}\n`)
  })

  test('binds stub domains without placeholders for addresses', (t) => {
    const { options, setConfigMap } = setUp(t)
    writeFileSync(options.template, '.:53 {\n}\n')
    setConfigMap({ stubDomains: '{"corp.example": ["192.0.2.1"]}' })
    assert.match(generateCorefile(options)?.text ?? '', /bind 169\.254\.20\.10 fd00::a\n/)
  })

  test('leaves an invalid ConfigMap out, and says why', (t) => {
    const { options, setConfigMap } = setUp(t)
    setConfigMap({ stubDomains: '{' })
    assert.deepEqual(generateCorefile(options), {
      text: FILLED,
      notices: [],
      configMapError: 'stubDomains is not JSON',
    })
  })

  test('needs a template', (t) => {
    assert.equal(generateCorefile(setUp(t, { template: '/nonexistent' }).options), undefined)
  })
})

describe('NodeCorefile', () => {
  test('writes the Corefile again when its parts change', (t) => {
    const { options, setConfigMap } = setUp(t)
    const messages: string[] = []
    let errors = 0
    const corefile = new NodeCorefile(
      options,
      ({ message }) => messages.push(message),
      () => errors++,
    )
    const read = (): string => readFileSync(options.corefile, 'utf8')
    const generated = `generated ${options.corefile}`
    corefile.start()
    assert.equal(read(), FILLED)
    assert.equal(corefile.update(), false)
    assert.deepEqual(messages.splice(0), [generated])

    setConfigMap({ upstreamNameservers: '["192.0.2.2"]' })
    assert.equal(corefile.update(), true)
    assert.match(read(), /forward \. 192\.0\.2\.2\n/)
    assert.deepEqual(messages.splice(0), [generated])

    setConfigMap({ upstreamNameservers: '["192.0.2.2"' })
    assert.equal(corefile.update(), false)
    assert.match(read(), /forward \. 192\.0\.2\.2\n/)
    assert.equal(corefile.update(), false)
    const reason = 'upstreamNameservers is not JSON'
    assert.deepEqual(messages.splice(0), [`ignored ${options.configMap}: ${reason}`])
    assert.equal(errors, 2)

    writeFileSync(options.template, '__PILLAR__NONE__')
    assert.equal(corefile.update(), false)
    assert.match(messages.join(), /^cannot generate a Corefile: .*not a placeholder/)
    assert.equal(errors, 3)
  })

  test('uses a Corefile as it is if there is no template', (t) => {
    const { options } = setUp(t)
    rmSync(options.template)
    const ignore = (): void => undefined
    const corefile = new NodeCorefile(options, ignore, ignore)
    assert.throws(() => corefile.start(), /no such file$/)
    writeFileSync(options.corefile, '.:53 {\n}\n')
    corefile.start()
    assert.equal(corefile.update(), false)
    assert.equal(readFileSync(options.corefile, 'utf8'), '.:53 {\n}\n')
  })
})
