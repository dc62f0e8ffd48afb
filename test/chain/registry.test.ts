import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { leftOutBecause } from '../../src/chain/left-out.ts'
import { pluginSet } from '../../src/chain/registry.ts'
import { ALL_PLUGINS } from '../../src/plugins/all-plugins.ts'
import { block, problemsOf } from '../ask.ts'

/** The plugins of CoreDNS 1.14, in the order of its plugin.cfg. */
const COREDNS = (
  'root metadata geoip cancel proxyproto quic grpc_server https https3 timeouts multisocket ' +
  'reload nsid bufsize bind debug trace ready health pprof shed prometheus errors log dnstap ' +
  'local dns64 any chaos loadbalance tsig rewrite autopath acl cache header dnssec tls minimal ' +
  'template transfer hosts route53 azure clouddns k8s_external kubernetes file auto secondary ' +
  'etcd loop forward grpc erratic whoami on sign view nomad'
).split(' ')

/** Where k8s_gateway stands that CoreDNS has not; its own build has it in place of kubernetes. */
const AFTER_KUBERNETES = COREDNS.indexOf('kubernetes') + 1

test('a plugin without a place in the order is an error of its programmer', () => {
  const setup = (): never => assert.fail('nothing is configured')
  assert.throws(() => pluginSet({ file: setup, new_one: setup, another: setup }), {
    message: 'PLUGIN_ORDER lacks new_one, another',
  })
})

describe('ALL_PLUGINS', () => {
  test('act in the order of CoreDNS', () => {
    assert.deepEqual(
      [...ALL_PLUGINS.keys()],
      [
        ...COREDNS.slice(0, AFTER_KUBERNETES),
        'k8s_gateway',
        ...COREDNS.slice(AFTER_KUBERNETES),
      ].filter((name) => ALL_PLUGINS.has(name)),
    )
  })
})

describe('findSetup', () => {
  for (const name of COREDNS.filter((plugin) => !ALL_PLUGINS.has(plugin))) {
    test(`says that ${name} is not here`, () => {
      const reason = leftOutBecause(name) ?? `plugin "${name}" is not supported yet; leave it out`
      assert.deepEqual(problemsOf(block(name)), [`Corefile:2:3: ${reason}`])
    })
  }
})

/** Directives up to their options, where these are not looked at without arguments. */
const OPENINGS: Readonly<Record<string, string>> = {
  root: 'root /srv {',
  geoip: 'geoip db.mmdb {',
  bind: 'bind 127.0.0.1 {',
  dnstap: 'dnstap /tmp/dnstap.sock {',
  autopath: 'autopath @kubernetes {',
  tls: 'tls cert.pem key.pem {',
  template: 'template IN A {',
  // Without "fallthrough", an unknown word begins a line of a hosts file.
  hosts: 'hosts {\n fallthrough',
  file: 'file db.example.org {',
  forward: 'forward . 127.0.0.1 {',
  view: 'view internal {',
}

describe('Names that every object has', () => {
  const inherited = Object.getOwnPropertyNames(Object.prototype)

  for (const plugin of ALL_PLUGINS.keys()) {
    test(`are no options of ${plugin}`, () => {
      for (const name of inherited) {
        for (const option of [name, `${name} 1`]) {
          const [problem = ''] = problemsOf(block(OPENINGS[plugin] ?? `${plugin} {`, option, '}'))
          assert.ok(problem.includes(`"${name}`), `${plugin} { ${option} }: ${problem}`)
        }
      }
    })
  }

  test('are no plugins', () => {
    for (const name of inherited) {
      assert.match(problemsOf(block(name)).join(), new RegExp(`"${name}"`))
    }
  })
})
