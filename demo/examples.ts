/**
 * What a newcomer can paste once all runs.
 * @module
 */
import { styleText } from 'node:util'
import { encodeBase64url } from '../src/bytes/base64url.ts'
import { nameOf } from '../src/dns/name.ts'
import { TYPE } from '../src/dns/rr-type.ts'
import { writeQuery } from '../src/dns/write-query.ts'

/** Where to ask. */
export type ExampleOptions = {
  readonly url: string
  readonly host: string
  readonly dnsPort: number
  /** The operator's token of the gateway. */
  readonly adminToken: string
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
/** Beside cluster.local, of which dig and others hold that it belongs to mDNS. */
const ORIGIN = 'demo.test'
const ADDRESS = '10.96.12.34'

/** Formats the line that all is ready, and commands to paste. */
export function formatExamples(options: ExampleOptions): string {
  const { url, host, dnsPort, adminToken, isDemo, seconds } = options
  const questions = isDemo ? DEMO : REAL
  const json = questions.map(({ title, name, type }) =>
    example(title, `curl -s '${url}/resolve?name=${name}.${ORIGIN}&type=${type}'`),
  )
  const plain = questions.map(({ title, name, type }) =>
    example(title, `dig @${host} -p ${dnsPort} ${name}.${ORIGIN} ${type}`),
  )
  const dig = `dig @${host} -p ${dnsPort}`
  const more = [
    example('over TCP', `${dig} +tcp ${questions[1]?.name}.${ORIGIN} SRV`),
    ...(isDemo ? [example('an address, backwards', `${dig} -x ${ADDRESS}`)] : []),
  ]
  const dns = encodeBase64url(writeQuery({ name: nameOf(firstName(questions)), type: TYPE.A }))
  const wire = [
    example(
      'the same in wire form (RFC 8484)',
      `curl -s '${url}/dns-query?dns=${dns}' | od -An -tx1z`,
    ),
    example('without dig or curl', `npx kubedoh query ${firstName(questions)} --server ${url}`),
  ]
  const back = isDemo
    ? [
        example(
          'an address, backwards',
          `curl -s '${url}/resolve?name=34.12.96.10.in-addr.arpa&type=PTR'`,
        ),
      ]
    : []
  const operator = [
    example('first, in your shell', `export KUBEDOH_ADMIN_TOKEN=${adminToken}`),
    example('why this answer', `npx kubedoh explain ${firstName(questions)} --gateway ${url}`),
    example('a token', `npx kubedoh token create --gateway ${url} --name me --expires 1h`),
  ]
  const ready = styleText(['green', 'bold'], 'ready', { stream: process.stdout })
  return [
    '',
    `${ready} in ${seconds.toFixed(1)} s; Ctrl-C ends it. A page for people: ${url}/`,
    '',
    heading('From outside of the cluster, over HTTP:'),
    ...json,
    ...back,
    ...wire,
    heading('From inside, over UDP and TCP:'),
    ...plain,
    ...more,
    heading('As the operator, who makes tokens and has answers explained:'),
    ...operator,
  ].join('\n')
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
