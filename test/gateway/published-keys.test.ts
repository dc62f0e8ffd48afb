/** The keys of an etcd, from the exporter to the gateway's answers. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createObjectSource } from '../../src/cluster/follow/export-source.ts'
import { KeyTree } from '../../src/cluster/follow/key-tree.ts'
import { namingOptions } from '../../src/cluster/follow/naming.ts'
import { defaultKubernetes } from '../../src/corefile/kubernetes-options.ts'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import type { TokenScope } from '../../src/gateway/config/token-scope.ts'
import { FakeHost } from '../fake-host.ts'
import { formatReply, parseQuestion } from '../message-text.ts'
import { CLIENT_TOKEN, clientSha256, Running } from './running.ts'
import { tokenRecord } from './tokens.ts'
import { WHOLE_SCOPE } from './whole-scope.ts'

const COREFILE = `
a.test b.test {
  etcd {
    endpoint {$NO_SUCH_VARIABLE}
    min-lease-ttl 45
  }
}
c.test {
  etcd {
    path /other
  }
}
`

class Scene {
  readonly tree = new KeyTree(assert.fail)
  readonly running: Running
  private readonly source

  private constructor(running: Running) {
    this.running = running
    const at = { file: 'Corefile', line: 1, column: 1 }
    this.source = createObjectSource([], {
      naming: namingOptions(defaultKubernetes(at, [nameOf('cluster.local.')]), []),
      keys: this.tree,
      onWarning: assert.fail,
      now: running.host.now,
    })
  }

  static async start(): Promise<Scene> {
    const variables = { COREFILE, EXPIRE_SECONDS: '600', CLIENT_TOKEN_SHA256: clientSha256 }
    return new Scene(await Running.start(variables, new FakeHost({ isGateway: true })))
  }

  set(key: string, value: string, lease = ''): void {
    this.tree.set({ key, value, lease })
  }

  async publish(): Promise<void> {
    const { now } = this.running.host
    const facts = { sources: {}, confirmedMs: now() }
    await this.running.exporter(now).publish(this.source.build(), facts)
  }

  async ask(question: string, token = CLIENT_TOKEN): Promise<string> {
    const { message } = parseQuestion(question)
    const path = `/dns-query?dns=${encodeBase64url(message)}`
    const response = await this.running.get(path, token)
    assert.equal(response.status, 200)
    return formatReply(new Uint8Array(await response.arrayBuffer()))
      .slice(0, 2)
      .join('; ')
  }
}

describe('a gateway answers etcd directives from published keys', () => {
  test('below their paths, and changes of them', async () => {
    const scene = await Scene.start()
    scene.set('/skydns/test/a/www', '{"host":"192.0.2.1"}')
    scene.set('/skydns/test/b/www', '{"host":"192.0.2.2"}', '77')
    scene.set('/skydns/test/a/bad', '{')
    scene.set('/other/test/c/www', '{"host":"192.0.2.3","ttl":9}')
    scene.tree.complete()
    await scene.publish()
    assert.equal(await scene.ask('www.a.test A'), 'NOERROR aa rd; www.a.test. 300 IN A 192.0.2.1')
    // What remains of the lease is not published.
    assert.equal(await scene.ask('www.b.test A'), 'NOERROR aa rd; www.b.test. 45 IN A 192.0.2.2')
    assert.equal(await scene.ask('www.c.test A'), 'NOERROR aa rd; www.c.test. 9 IN A 192.0.2.3')
    assert.match(await scene.ask('bad.a.test A'), /^SERVFAIL/)
    assert.match(await scene.ask('none.a.test A'), /^NXDOMAIN/)
    scene.set('/skydns/test/a/www', '{"host":"192.0.2.9"}')
    scene.tree.delete('/skydns/test/a/bad')
    await scene.running.host.advance(1000)
    await scene.publish()
    await scene.running.pass(10_000)
    assert.equal(await scene.ask('www.a.test A'), 'NOERROR aa rd; www.a.test. 300 IN A 192.0.2.9')
    assert.match(await scene.ask('bad.a.test A'), /^NXDOMAIN/)
  })

  test('for tokens that see the zone, whatever their namespaces', async () => {
    const scene = await Scene.start()
    scene.set('/skydns/test/a/www', '{"host":"192.0.2.1"}')
    scene.tree.complete()
    await scene.publish()
    const cases: { scope: Partial<TokenScope>; isSeen: boolean }[] = [
      { scope: { namespaces: ['shop'] }, isSeen: true },
      { scope: { origins: ['a.test.'] }, isSeen: true },
      { scope: { origins: ['b.test.'] }, isSeen: false },
      { scope: { clusters: ['depot'] }, isSeen: false },
    ]
    const tokens = await Promise.all(
      cases.map(async ({ scope }) => {
        const { token, record } = await tokenRecord({ scope: { ...WHOLE_SCOPE, ...scope } })
        await scene.running.tokens.add(record)
        return token
      }),
    )
    for (const [i, { scope, isSeen }] of cases.entries()) {
      const reply = await scene.ask('www.a.test A', tokens[i])
      assert.equal(/192\.0\.2\.1$/.test(reply), isSeen, JSON.stringify(scope))
    }
  })

  test('with SERVFAIL until there are some, and once they are too old', async () => {
    const scene = await Scene.start()
    scene.set('/skydns/test/a/www', '{"host":"192.0.2.1"}')
    scene.tree.proceed()
    await scene.publish()
    assert.match(await scene.ask('www.a.test A'), /^SERVFAIL/)
    scene.tree.complete()
    await scene.running.host.advance(2000)
    await scene.publish()
    await scene.running.pass(10_000)
    assert.match(await scene.ask('www.a.test A'), /^NOERROR/)
    await scene.running.pass(700_000)
    assert.match(await scene.ask('www.a.test A'), /^SERVFAIL/)
  })

  test('and lists no hashes as names', async () => {
    const scene = await Scene.start()
    scene.set('/skydns/test/a/www', '{"host":"192.0.2.1"}')
    scene.tree.complete()
    await scene.publish()
    const response = await scene.running.get('/v1/names?under=a.test', CLIENT_TOKEN)
    const { names } = JSON.parse(await response.text())
    assert.deepEqual(names, [])
  })
})
