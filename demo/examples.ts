/**
 * What a newcomer can paste once all runs.
 * @module
 */
import { styleText } from 'node:util'
import { encodeBase64url } from '../src/dns/bytes/base64url.ts'
import { nameOf } from '../src/dns/names/name.ts'
import { TYPE } from '../src/dns/names/rr-type.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'

/** The token of a client that sees everything; no secret, as only this machine reaches the demo. */
export const CLIENT_TOKEN = 'demo'

/** The token of a client that sees one namespace. */
export type LimitedToken = {
  readonly id: string
  readonly token: string
  readonly namespace: string
}

/** Where the demo answers, and its tokens. */
export type ExampleOptions = {
  readonly url: string
  readonly host: string
  readonly dnsPort: number
  /** The operator's token of the gateway. */
  readonly adminToken: string
  readonly limited: LimitedToken
  /** Whether the cluster is the demo's own. */
  readonly isDemo: boolean
  readonly seconds: number
}

type Question = { readonly title: string; readonly name: string; readonly type: string }

const DEMO: readonly Question[] = [
  { title: 'a Service', name: 'web.shop.svc', type: 'A' },
  { title: 'the ports of a StatefulSet', name: '_sql._tcp.postgres.data.svc', type: 'SRV' },
  { title: 'a Service outside of the cluster', name: 'bank.payments.svc', type: 'A' },
  { title: 'a Service without that type', name: 'cart.shop.svc', type: 'AAAA' },
  { title: 'nothing of that name', name: 'nope.shop.svc', type: 'A' },
]
const REAL: readonly Question[] = [
  { title: 'the API server', name: 'kubernetes.default.svc', type: 'A' },
  { title: 'its port', name: '_https._tcp.kubernetes.default.svc', type: 'SRV' },
  { title: 'nothing of that name', name: 'nope.default.svc', type: 'A' },
]
/** In addition to cluster.local, which dig and others treat as mDNS. */
const ORIGIN = 'demo.test'
const ADDRESS = '10.96.12.34'

/** Formats the line that all is ready, and commands to paste. */
export function formatExamples(options: ExampleOptions): string {
  const { url, host, dnsPort, isDemo, seconds } = options
  const whole = `${url}/t/${CLIENT_TOKEN}`
  const questions = isDemo ? DEMO : REAL
  const json = questions.map(({ title, name, type }) =>
    example(title, `curl -s '${whole}/resolve?name=${name}.${ORIGIN}&type=${type}'`),
  )
  const plain = questions.map(({ title, name, type }) =>
    example(title, `dig @${host} -p ${dnsPort} ${name}.${ORIGIN} ${type}`),
  )
  const dig = `dig @${host} -p ${dnsPort}`
  const more = [
    example('over TCP', `${dig} +tcp ${questions[1]?.name}.${ORIGIN} SRV`),
    ...(isDemo
      ? [
          example(
            'an address, backwards: the first zone inside is cluster.local',
            `${dig} -x ${ADDRESS}`,
          ),
        ]
      : []),
  ]
  const dns = encodeBase64url(writeQuery({ name: nameOf(firstName(questions)), type: TYPE.A }))
  const wire = [
    example(
      'the same in wire form (RFC 8484)',
      `curl -s '${whole}/dns-query?dns=${dns}' | od -An -tx1z`,
    ),
    example(
      'without dig or curl',
      `npx kubedoh query ${firstName(questions)} --server ${url} --token ${CLIENT_TOKEN}`,
    ),
  ]
  const back = isDemo
    ? [
        example(
          'an address, backwards: the first zone at the edge is demo.test',
          `curl -s '${whole}/resolve?name=34.12.96.10.in-addr.arpa&type=PTR'`,
        ),
      ]
    : []
  const ready = styleText(['green', 'bold'], 'ready', { stream: process.stdout })
  return [
    '',
    `${ready} in ${seconds.toFixed(1)} s; Ctrl-C ends it. A page for people: ${whole}/`,
    '',
    heading('From outside of the cluster, over HTTP:'),
    ...json,
    ...back,
    ...wire,
    heading('From inside, over UDP and TCP:'),
    ...plain,
    ...more,
    heading(`As a person with a login: alice sees ${options.limited.namespace}, bob all:`),
    example('"Sign in" on the page', `${url}/`),
    example('in a terminal', `npx kubedoh login --gateway ${url}`),
    heading('As the operator, who makes tokens and has answers explained:'),
    ...operatorLines(options),
    heading(`As a client that sees only the namespace ${options.limited.namespace}:`),
    ...limitedLines(options),
  ].join('\n')
}

function operatorLines({ url, adminToken, limited, isDemo }: ExampleOptions): string[] {
  const name = firstName(isDemo ? DEMO : REAL)
  return [
    example('first, in your shell', `export KUBEDOH_ADMIN_TOKEN=${adminToken}`),
    example('why this answer', `npx kubedoh explain ${name} --gateway ${url}`),
    example(
      'what the client below does not see',
      `npx kubedoh explain ${forbidden(isDemo)} --gateway ${url} --as ${limited.id}`,
    ),
    example('a token', `npx kubedoh token create me --gateway ${url} --expires 1h`),
    example('all tokens', `npx kubedoh token list --gateway ${url}`),
  ]
}

function limitedLines({ url, limited: { token }, isDemo }: ExampleOptions): string[] {
  const base = `${url}/t/${token}`
  return [
    example('its page', `${base}/`),
    example(
      'a name that it sees',
      `curl -s '${base}/resolve?name=${firstName(isDemo ? DEMO : REAL)}'`,
    ),
    example(
      'a forbidden name: the response of a name that does not exist',
      `curl -s '${base}/resolve?name=${forbidden(isDemo)}'`,
    ),
  ]
}

/** Returns a name outside of the namespace of the limited token. */
function forbidden(isDemo: boolean): string {
  return `${isDemo ? 'bank.payments' : 'kube-dns.kube-system'}.svc.${ORIGIN}`
}

function firstName([first]: readonly Question[]): string {
  return `${first?.name}.${ORIGIN}`
}

function heading(text: string): string {
  return `${styleText('bold', text, { stream: process.stdout })}\n`
}

function example(title: string, command: string): string {
  const note = styleText('dim', `# ${title}`, { stream: process.stdout })
  return `  ${note}\n  ${command}\n`
}
