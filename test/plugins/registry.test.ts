import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { leftOutBecause } from '../../src/plugins/left-out.ts'
import { PLUGINS } from '../../src/plugins/registry.ts'
import { block, problemsOf } from '../ask.ts'

/** The plugins of CoreDNS 1.14, in the order of its plugin.cfg. */
const COREDNS = (
  'root metadata geoip cancel proxyproto quic grpc_server https https3 timeouts multisocket ' +
  'reload nsid bufsize bind debug trace ready health pprof shed prometheus errors log dnstap ' +
  'local dns64 any chaos loadbalance tsig rewrite autopath acl cache header dnssec tls minimal ' +
  'template transfer hosts route53 azure clouddns k8s_external kubernetes file auto secondary ' +
  'etcd loop forward grpc erratic whoami on sign view nomad'
).split(' ')

describe('PLUGINS', () => {
  test('act in the order of CoreDNS', () => {
    assert.deepEqual(
      [...PLUGINS.keys()],
      COREDNS.filter((name) => PLUGINS.has(name)),
    )
  })
})

describe('findSetup', () => {
  for (const name of COREDNS.filter((plugin) => !PLUGINS.has(plugin))) {
    test(`says that ${name} is not here`, () => {
      const reason = leftOutBecause(name) ?? `plugin "${name}" is not supported yet; leave it out`
      assert.deepEqual(problemsOf(block(name)), [`Corefile:2:3: ${reason}`])
    })
  }

  const cases: { name: string; directive: string; problem: string }[] = [
    {
      name: 'says what to write for proxy',
      directive: 'proxy . 192.0.2.53',
      problem: '"proxy" is gone from CoreDNS; write "forward" in its place',
    },
    {
      name: 'says what to do about upstream',
      directive: 'upstream',
      problem:
        '"upstream" is gone from CoreDNS; leave it out: names are always resolved through the ' +
        'whole server',
    },
    {
      name: 'guesses what a misspelled name should be',
      directive: 'foward . 192.0.2.53',
      problem: 'there is no plugin "foward"; did you mean "forward"?',
    },
    {
      name: 'minds letter case',
      directive: 'Cache',
      problem: 'there is no plugin "Cache"; did you mean "cache"?',
    },
    {
      name: 'guesses nothing that is far off',
      directive: 'unbound',
      problem: 'there is no plugin "unbound"; it is none of CoreDNS either',
    },
    {
      name: 'is not misled by what every object has',
      directive: 'constructor',
      problem: 'there is no plugin "constructor"; it is none of CoreDNS either',
    },
  ]
  for (const { name, directive, problem } of cases) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(directive)), [`Corefile:2:3: ${problem}`])
    })
  }
})
