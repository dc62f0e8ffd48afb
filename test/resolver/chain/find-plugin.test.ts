import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { leftOutBecause } from '../../../src/resolver/chain/left-out.ts'
import { ALL_PLUGINS } from '../../../src/resolver/plugins/all-plugins.ts'
import { block, problemsOf } from '../../ask.ts'

/** The plugins of CoreDNS 1.14, in the order of its plugin.cfg. */
const COREDNS = (
  'root metadata geoip cancel proxyproto quic grpc_server https https3 timeouts multisocket ' +
  'reload nsid bufsize bind debug trace ready health pprof shed prometheus errors log dnstap ' +
  'local dns64 any chaos loadbalance tsig rewrite autopath acl cache header dnssec tls minimal ' +
  'template transfer hosts route53 azure clouddns k8s_external kubernetes file auto secondary ' +
  'etcd loop forward grpc erratic whoami on sign view nomad'
).split(' ')

describe('findPlugin', () => {
  for (const name of COREDNS.filter((plugin) => !ALL_PLUGINS.has(plugin))) {
    test(`says that ${name} is not here`, () => {
      const reason = leftOutBecause(name) ?? assert.fail()
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
  grpc: 'grpc . 127.0.0.1 {',
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

describe('unknownPlugin', () => {
  const cases: { name: string; directive: string; problem: string }[] = [
    {
      name: 'says what to write for reverse',
      directive: 'reverse 10.32.0.0/16',
      problem: '"reverse" is gone from CoreDNS; write "template" in its place',
    },
    {
      name: 'says what to do about upstream',
      directive: 'upstream',
      problem:
        '"upstream" is gone from CoreDNS; leave it out: kubedoh always resolves names through the ' +
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
      name: 'knows plugins that some build in',
      directive: 'unbound',
      problem: '"unbound" is not a plugin of CoreDNS itself; consider "forward"',
    },
    {
      name: 'knows options that lost their braces',
      directive: 'pods insecure',
      problem: '"pods" is an option of "kubernetes", not a plugin; is a brace misplaced?',
    },
    {
      name: 'guesses nothing that is far off',
      directive: 'dnsmasq',
      problem: 'there is no plugin "dnsmasq"; CoreDNS has none of this name either',
    },
    {
      name: 'is not misled by what every object has',
      directive: 'constructor',
      problem: 'there is no plugin "constructor"; CoreDNS has none of this name either',
    },
  ]
  for (const { name, directive, problem } of cases) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(directive)), [`Corefile:2:3: ${problem}`])
    })
  }
})
