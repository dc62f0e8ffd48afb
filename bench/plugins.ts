/**
 * What each plugin costs a query that it has nothing to do with: the time of an answer from the
 * `kubernetes` plugin with the other one configured, less the time without it.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { BUNDLES } from './places.ts'
import { median, type Row, row } from './row.ts'

const UNCONCERNED_NS_MAX = 50
const TSIG_SECRET = 'NoTCJU+DMqFWywaPyxSijrDEA/eC3nK0xi3AMEZuPVk='

/** Plugins as people have them, none of which has to do with the names that are asked. */
const UNCONCERNED: readonly (readonly [name: string, directive: string])[] = [
  ['acl', 'acl internal.example {\n block net 203.0.113.0/24\n }'],
  ['any', 'any'],
  ['autopath', 'autopath internal.example @kubernetes'],
  ['bufsize', 'bufsize 1232'],
  ['cancel', 'cancel'],
  ['chaos', 'chaos'],
  ['dns64', 'dns64'],
  ['dnssec', 'dnssec'],
  ['erratic', 'erratic'],
  ['errors', 'errors'],
  ['forward', 'forward . 127.0.0.1:5300'],
  ['hosts', 'hosts {\n 192.0.2.1 some-api.example\n fallthrough\n }'],
  ['k8s_external', 'k8s_external external.example'],
  ['local', 'local'],
  ['loop', 'loop'],
  ['metadata', 'metadata'],
  ['nsid', 'nsid a-server'],
  ['reload', 'reload'],
  ['rewrite, by name', 'rewrite name exact a.example b.example'],
  ['rewrite, by suffix', 'rewrite name suffix .old.example .example answer auto'],
  [
    'rewrite, by expression',
    'rewrite name regex (.*)\\.(.*)\\.endpoints\\.cluster\\.local {1}.{2}.svc.cluster.local',
  ],
  ['template', 'template IN A internal.example {\n answer "{{ .Name }} 60 IN A 192.0.2.1"\n }'],
  ['transfer', 'transfer {\n to *\n }'],
  ['tsig', `tsig {\n secret a.key ${TSIG_SECRET}\n require AXFR IXFR\n }`],
  ['whoami', 'whoami'],
]

/**
 * Plugins that have a part in every answer: counting it, bounding its TTL, turning its
 * addresses.
 */
const CONCERNED: readonly (readonly [name: string, directive: string])[] = [
  ['cache', 'cache 30'],
  ['header', 'header {\n response set ra\n }'],
  ['loadbalance', 'loadbalance'],
  ['minimal', 'minimal'],
  ['prometheus', 'prometheus 127.0.0.1:0'],
  ['view', "view inside {\n expr incidr(client_ip(), '127.0.0.0/8')\n }"],
]

/** Measures. */
export function benchPlugins(): Row[] {
  const bases: number[] = []
  const cost = (directive: string): number => {
    const script = join(BUNDLES, 'plugin-cost.js')
    const printed = execFileSync(process.execPath, [script, directive], { encoding: 'utf8' })
    const { base, added }: { readonly base: number; readonly added: number } = JSON.parse(printed)
    bases.push(base)
    return added
  }
  const goal = { atMost: UNCONCERNED_NS_MAX }
  const rows = [
    ...UNCONCERNED.map(([name, text]) =>
      row('plugins', `${name}, not concerned`, 'ns', cost(text), goal),
    ),
    ...CONCERNED.map(([name, text]) => row('plugins', `${name}, in each answer`, 'ns', cost(text))),
  ]
  return [row('plugins', 'kubernetes alone', 'ns', median(bases)), ...rows]
}
