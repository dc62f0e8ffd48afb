/**
 * The shell commands that give a node's cache its addresses and keep its packets out of connection
 * tracking. `kubedoh node-cache` runs them with `sh -e`, and `--print` prints them.
 *
 * Rules and comments are those of NodeLocal DNSCache (github.com/kubernetes/dns,
 * cmd/node-cache/app/cache_app.go), in chains or a table of their own, so that a restart adds none.
 * @module
 */

/** What the cache listens on. Addresses and names must be valid: they become parts of commands. */
export type NodeNetwork = {
  readonly interfaceName: string
  /** Addresses of both families, in canonical form. */
  readonly addresses: readonly string[]
  readonly dnsPort: number
  readonly healthPort: number
}

/** The program that loads the rules. */
export type RulesKind = 'iptables' | 'nftables'

const TABLE = 'inet kubedoh_node_cache'
const CHAIN = 'KUBEDOH-NODE-CACHE'
const SKIP = 'NodeLocal DNS Cache: skip conntrack'
const ALLOW = 'NodeLocal DNS Cache: allow DNS traffic'
/** Printed when the kernel has no dummy interfaces. */
export const BRIDGE_NOTE = 'bridge'

/** The chains that jump to ours: those of NodeLocal DNSCache. */
const JUMPS = [
  ['raw', 'PREROUTING', 'IN'],
  ['raw', 'OUTPUT', 'OUT'],
  ['filter', 'INPUT', 'IN'],
  ['filter', 'OUTPUT', 'OUT'],
] as const

/**
 * Returns the commands that create the interface, or restore its addresses. Other addresses are
 * removed: the node would keep packets to them, and nobody would answer. IPv6 addresses skip
 * duplicate address detection, during which nothing can listen on them.
 */
export function interfaceScript({ interfaceName: name, addresses }: NodeNetwork): string {
  const prefixes = addresses.map((address) => `${address}/${isIPv6(address) ? 128 : 32}`)
  const add = prefixes.map((prefix) => {
    const option = isIPv6(prefix) ? ' nodad' : ''
    return `ip address replace ${prefix} dev ${name}${option}\n`
  })
  return `ip link show dev ${name} >/dev/null 2>&1 ||
  ip link add ${name} type dummy 2>/dev/null ||
  { ip link add ${name} type bridge; echo ${BRIDGE_NOTE}; }
ip link set dev ${name} up
${add.join('')}ip -o address show dev ${name} scope global | while read -r _ _ _ address _; do
  case ' ${prefixes.join(' ')} ' in
    *" $address "*) ;;
    *) ip address delete "$address" dev ${name} ;;
  esac
done
`
}

/** Returns the command that removes the interface with its addresses. */
export function interfaceRemovalScript({ interfaceName }: NodeNetwork): string {
  return `ip link delete dev ${interfaceName}\n`
}

/** Returns the commands that load the rules, or restore them. */
export function rulesScript(kind: RulesKind, network: NodeNetwork): string {
  return loadingScript(kind, network, false)
}

/**
 * Returns the commands that replace the rules by those of a cache that stops: packets to the
 * Service's address reach kube-proxy again, and responses to earlier ones still skip connection
 * tracking. The kernel would take a tracked response for the first packet of a connection from the
 * Service to the client. For 30 s, it would take the client's packets from this port for responses,
 * and translate none of them.
 */
export function stoppingScript(kind: RulesKind, network: NodeNetwork): string {
  return loadingScript(kind, network, true)
}

function loadingScript(kind: RulesKind, network: NodeNetwork, isStopping: boolean): string {
  if (kind === 'nftables') return `nft -f - <<'EOF'\n${nftablesRules(network, isStopping)}EOF\n`
  return families(network)
    .map(({ program, addresses }) => {
      const jumps = JUMPS.map(([table, chain, end]) => {
        const rule = `${chain} -j ${CHAIN}-${end}`
        const command = `${program} -w 5 -t ${table}`
        return `${command} -C ${rule} 2>/dev/null || ${command} -I ${rule}\n`
      })
      const rules = iptablesRules({ ...network, addresses }, isStopping)
      return `${program}-restore --noflush --wait=5 <<'EOF'\n${rules}EOF\n${jumps.join('')}`
    })
    .join('')
}

/** Returns the commands that remove the rules. */
export function rulesRemovalScript(kind: RulesKind, network: NodeNetwork): string {
  if (kind === 'nftables') return `nft delete table ${TABLE}\n`
  const removals = families(network).map(({ program }) => chainsRemoval(program))
  return `${removals.join('')}test -z "$status"\n`
}

/**
 * Returns the commands that remove what caches with other flags have left: rules of the other kind,
 * and those of iptables for a family without addresses. Packets to the Service's address would skip
 * its translation for ever. Ignores programs that the machine lacks.
 */
export function staleRulesScript(kind: RulesKind, network: NodeNetwork): string {
  const used = kind === 'iptables' ? families(network).map(({ program }) => program) : []
  const removals = ['iptables', 'ip6tables']
    .filter((program) => !used.includes(program))
    .map((program) => {
      const command = `${program} -w 5 -t`
      return `if { ${command} raw -S ${CHAIN}-IN || ${command} filter -S ${CHAIN}-OUT; } >/dev/null 2>&1
then
${chainsRemoval(program)}fi
`
    })
  const table = kind === 'iptables' ? `nft delete table ${TABLE} 2>/dev/null || :\n` : ''
  return `${table}${removals.join('')}test -z "$status"\n`
}

/** Sets `status` if the chains cannot be removed. */
function chainsRemoval(program: string): string {
  return JUMPS.map(([table, chain, end]) => {
    const command = `${program} -w 5 -t ${table}`
    const ours = `${CHAIN}-${end}`
    return `while ${command} -D ${chain} -j ${ours} 2>/dev/null; do :; done
${command} -F ${ours} && ${command} -X ${ours} || status=$?
`
  }).join('')
}

/** Returns the table of both families. `th` is the header of TCP and of UDP. */
function nftablesRules(network: NodeNetwork, isStopping: boolean): string {
  const { addresses, dnsPort, healthPort } = network
  const sets = [
    { family: 'ip', members: addresses.filter((one) => !isIPv6(one)) },
    { family: 'ip6', members: addresses.filter(isIPv6) },
  ].filter(({ members }) => members.length > 0)
  const skip = (side: 'daddr' | 'saddr', ports: string): string => {
    const rules = sets.map(({ family, members }) => {
      const match = `${family} ${side} { ${members.join(', ')} } ${ports}`
      return `\t\t${match} notrack comment "${SKIP}"\n`
    })
    return rules.join('')
  }
  const dns = 'meta l4proto { tcp, udp } th'
  const queries = isStopping ? '' : skip('daddr', `${dns} dport ${dnsPort}`)
  const responses = skip('saddr', `${dns} sport ${dnsPort}`)
  const health = skip('daddr', `tcp dport ${healthPort}`) + skip('saddr', `tcp sport ${healthPort}`)
  return `table ${TABLE}
delete table ${TABLE}
table ${TABLE} {
	chain prerouting {
		type filter hook prerouting priority raw; policy accept;
${queries}	}
	chain output {
		type filter hook output priority raw; policy accept;
${queries}${responses}${health}	}
}
`
}

/** Returns the input of `iptables-restore` for addresses of one family. */
function iptablesRules(network: NodeNetwork, isStopping: boolean): string {
  const { addresses, dnsPort, healthPort } = network
  const rule = (end: string, match: string, [comment, target]: readonly [string, string]): string =>
    `-A ${CHAIN}-${end} ${match} -m comment --comment "${comment}" -j ${target}\n`
  const raw = [SKIP, 'NOTRACK'] as const
  const accept = [ALLOW, 'ACCEPT'] as const
  const each = (make: (address: string) => readonly string[]): string =>
    addresses.flatMap(make).join('')
  const both = (make: (protocol: string) => string): string[] => ['udp', 'tcp'].map(make)
  const heads = `:${CHAIN}-IN - [0:0]\n:${CHAIN}-OUT - [0:0]\n`
  const queries = each((ip) => [
    ...both((protocol) => rule('IN', `-d ${ip} -p ${protocol} --dport ${dnsPort}`, raw)),
    ...both((protocol) => rule('OUT', `-d ${ip} -p ${protocol} --dport ${dnsPort}`, raw)),
  ])
  const others = each((ip) => [
    ...both((protocol) => rule('OUT', `-s ${ip} -p ${protocol} --sport ${dnsPort}`, raw)),
    rule('OUT', `-d ${ip} -p tcp --dport ${healthPort}`, raw),
    rule('OUT', `-s ${ip} -p tcp --sport ${healthPort}`, raw),
  ])
  // Firewalls accept connections that they track; these are not tracked any more.
  const allowed = each((ip) => [
    ...both((protocol) => rule('IN', `-d ${ip} -p ${protocol} --dport ${dnsPort}`, accept)),
    ...both((protocol) => rule('OUT', `-s ${ip} -p ${protocol} --sport ${dnsPort}`, accept)),
  ])
  const skipped = isStopping ? others : queries + others
  return `*raw\n${heads}${skipped}COMMIT\n*filter\n${heads}${allowed}COMMIT\n`
}

function families({ addresses }: NodeNetwork): { program: string; addresses: string[] }[] {
  return [
    { program: 'iptables', addresses: addresses.filter((one) => !isIPv6(one)) },
    { program: 'ip6tables', addresses: addresses.filter(isIPv6) },
  ].filter((family) => family.addresses.length > 0)
}

function isIPv6(address: string): boolean {
  return address.includes(':')
}
