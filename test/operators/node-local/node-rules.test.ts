import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'vitest'
import {
  interfaceRemovalScript,
  interfaceScript,
  type NodeNetwork,
  rulesRemovalScript,
  rulesScript,
  staleRulesScript,
  stoppingScript,
} from '../../../src/operators/node-local/node-rules.ts'

const NETWORK: NodeNetwork = {
  interfaceName: 'nodelocaldns',
  addresses: ['169.254.20.10', 'fd00::a'],
  dnsPort: 53,
  healthPort: 8080,
}
const IPV4 = { ...NETWORK, addresses: ['169.254.20.10'] }
const SKIP = '-m comment --comment "NodeLocal DNS Cache: skip conntrack" -j NOTRACK'
const ALLOW = '-m comment --comment "NodeLocal DNS Cache: allow DNS traffic" -j ACCEPT'

/** The command that adds a jump unless it is there. */
function jump(table: string, chain: string, end: string): string {
  const rule = `${chain} -j KUBEDOH-NODE-CACHE-${end}`
  const command = `iptables -w 5 -t ${table}`
  return `${command} -C ${rule} 2>/dev/null || ${command} -I ${rule}\n`
}

test('creates an interface with the addresses, and removes it', () => {
  assert.equal(
    interfaceScript(NETWORK),
    `ip link show dev nodelocaldns >/dev/null 2>&1 ||
  ip link add nodelocaldns type dummy 2>/dev/null ||
  { ip link add nodelocaldns type bridge; echo bridge; }
ip link set dev nodelocaldns up
ip address replace 169.254.20.10/32 dev nodelocaldns
ip address replace fd00::a/128 dev nodelocaldns nodad
ip -o address show dev nodelocaldns scope global | while read -r _ _ _ address _; do
  case ' 169.254.20.10/32 fd00::a/128 ' in
    *" $address "*) ;;
    *) ip address delete "$address" dev nodelocaldns ;;
  esac
done
`,
  )
  assert.equal(interfaceRemovalScript(NETWORK), 'ip link delete dev nodelocaldns\n')
})

describe('rules of iptables', () => {
  test('are those of NodeLocal DNSCache, in chains of their own', () => {
    assert.equal(
      rulesScript('iptables', IPV4),
      `iptables-restore --noflush --wait=5 <<'EOF'
*raw
:KUBEDOH-NODE-CACHE-IN - [0:0]
:KUBEDOH-NODE-CACHE-OUT - [0:0]
-A KUBEDOH-NODE-CACHE-IN -d 169.254.20.10 -p udp --dport 53 ${SKIP}
-A KUBEDOH-NODE-CACHE-IN -d 169.254.20.10 -p tcp --dport 53 ${SKIP}
-A KUBEDOH-NODE-CACHE-OUT -d 169.254.20.10 -p udp --dport 53 ${SKIP}
-A KUBEDOH-NODE-CACHE-OUT -d 169.254.20.10 -p tcp --dport 53 ${SKIP}
-A KUBEDOH-NODE-CACHE-OUT -s 169.254.20.10 -p udp --sport 53 ${SKIP}
-A KUBEDOH-NODE-CACHE-OUT -s 169.254.20.10 -p tcp --sport 53 ${SKIP}
-A KUBEDOH-NODE-CACHE-OUT -d 169.254.20.10 -p tcp --dport 8080 ${SKIP}
-A KUBEDOH-NODE-CACHE-OUT -s 169.254.20.10 -p tcp --sport 8080 ${SKIP}
COMMIT
*filter
:KUBEDOH-NODE-CACHE-IN - [0:0]
:KUBEDOH-NODE-CACHE-OUT - [0:0]
-A KUBEDOH-NODE-CACHE-IN -d 169.254.20.10 -p udp --dport 53 ${ALLOW}
-A KUBEDOH-NODE-CACHE-IN -d 169.254.20.10 -p tcp --dport 53 ${ALLOW}
-A KUBEDOH-NODE-CACHE-OUT -s 169.254.20.10 -p udp --sport 53 ${ALLOW}
-A KUBEDOH-NODE-CACHE-OUT -s 169.254.20.10 -p tcp --sport 53 ${ALLOW}
COMMIT
EOF
${jump('raw', 'PREROUTING', 'IN')}${jump('raw', 'OUTPUT', 'OUT')}${jump('filter', 'INPUT', 'IN')}${jump('filter', 'OUTPUT', 'OUT')}`,
    )
  })

  test('use ip6tables for IPv6, with the ports of the flags', () => {
    const script = rulesScript('iptables', { ...NETWORK, dnsPort: 1053, healthPort: 9000 })
    assert.match(script, /^ip6tables-restore --noflush/m)
    assert.match(script, /^-A KUBEDOH-NODE-CACHE-IN -d fd00::a -p udp --dport 1053 /m)
    assert.match(script, /^-A KUBEDOH-NODE-CACHE-OUT -s fd00::a -p tcp --sport 9000 /m)
    assert.doesNotMatch(rulesScript('iptables', IPV4), /ip6tables/)
  })

  test('are removed, also when they were added twice', () => {
    const lines = rulesRemovalScript('iptables', IPV4).split('\n')
    const command = 'iptables -w 5 -t raw'
    const chain = 'KUBEDOH-NODE-CACHE-IN'
    assert.deepEqual(lines.slice(0, 2), [
      `while ${command} -D PREROUTING -j ${chain} 2>/dev/null; do :; done`,
      `${command} -F ${chain} && ${command} -X ${chain} || status=$?`,
    ])
    assert.deepEqual(lines.slice(8), ['test -z "$status"', ''])
  })
})

describe('rules of nftables', () => {
  const RULE = 'notrack comment "NodeLocal DNS Cache: skip conntrack"'

  test('replace a table of both families at once', () => {
    const queries = `\t\tip daddr { 169.254.20.10 } meta l4proto { tcp, udp } th dport 53 ${RULE}
\t\tip6 daddr { fd00::a } meta l4proto { tcp, udp } th dport 53 ${RULE}\n`
    assert.equal(
      rulesScript('nftables', NETWORK),
      `nft -f - <<'EOF'
table inet kubedoh_node_cache
delete table inet kubedoh_node_cache
table inet kubedoh_node_cache {
\tchain prerouting {
\t\ttype filter hook prerouting priority raw; policy accept;
${queries}\t}
\tchain output {
\t\ttype filter hook output priority raw; policy accept;
${queries}\t\tip saddr { 169.254.20.10 } meta l4proto { tcp, udp } th sport 53 ${RULE}
\t\tip6 saddr { fd00::a } meta l4proto { tcp, udp } th sport 53 ${RULE}
\t\tip daddr { 169.254.20.10 } tcp dport 8080 ${RULE}
\t\tip6 daddr { fd00::a } tcp dport 8080 ${RULE}
\t\tip saddr { 169.254.20.10 } tcp sport 8080 ${RULE}
\t\tip6 saddr { fd00::a } tcp sport 8080 ${RULE}
\t}
}
EOF
`,
    )
    assert.doesNotMatch(rulesScript('nftables', IPV4), /ip6/)
  })

  test('are removed with their table', () => {
    assert.equal(
      rulesRemovalScript('nftables', NETWORK),
      'nft delete table inet kubedoh_node_cache\n',
    )
  })
})

describe('rules of a cache that stops', () => {
  for (const kind of ['iptables', 'nftables'] as const) {
    test(`are those of ${kind} for responses`, () => {
      const rules = stoppingScript(kind, NETWORK)
      assert.doesNotMatch(rules, /(-d 169\.\S+|-d fd00::a|daddr \{ \S+ \}) .*53 .*notrack/i)
      assert.match(rules, /(-s 169\.254\.20\.10|saddr \{ 169\.254\.20\.10 \}) .*53 .*notrack/i)
      assert.match(rules, /(-s fd00::a|saddr \{ fd00::a \}) .*53 .*notrack/i)
      const running = rulesScript(kind, NETWORK)
      assert.ok(rules.split('\n').every((line) => running.includes(line)))
    })
  }
})

describe('rules of caches with other flags', () => {
  const DELETES = 'nft delete table inet kubedoh_node_cache 2>/dev/null || :'
  const programsOf = (script: string): string[] => [
    ...new Set([...script.matchAll(/^while (\S+) /gm)].map(([, program = '']) => program)),
  ]

  test('are those of the other kind, and of a family without addresses', () => {
    const both = staleRulesScript('iptables', NETWORK)
    assert.equal(both, `${DELETES}\ntest -z "$status"\n`)
    assert.deepEqual(programsOf(staleRulesScript('iptables', IPV4)), ['ip6tables'])
    const ipv6 = { ...NETWORK, addresses: ['fd00::a'] }
    assert.deepEqual(programsOf(staleRulesScript('iptables', ipv6)), ['iptables'])
    const nftables = staleRulesScript('nftables', NETWORK)
    assert.deepEqual(programsOf(nftables), ['iptables', 'ip6tables'])
    assert.ok(!nftables.includes('nft'))
  })

  test('are no error where there are none, and none of the programs', () => {
    for (const kind of ['iptables', 'nftables'] as const) {
      const script = staleRulesScript(kind, IPV4)
      const options = { env: { PATH: '/nonexistent' }, encoding: 'utf8' } as const
      const { status, stderr } = spawnSync('/bin/sh', ['-ec', script], options)
      assert.deepEqual([status, stderr], [0, ''])
    }
  })
})
