/**
 * `kubedoh token …`: manages the client tokens of a gateway.
 * @module
 */
import { recordOf } from '../bytes/unknown.ts'
import { CommandError, type Output } from '../node/output.ts'
import { formatColumns } from './columns.ts'
import { parseDuration } from './duration.ts'
import type { FlagName, Input } from './flags.ts'
import { callGateway } from './operator-call.ts'

/** A token as the gateway's API describes it. */
type TokenInfo = {
  readonly id: string
  readonly name: string
  readonly clusters: string
  readonly origins: string
  readonly namespaces: string
  readonly recurse: boolean
  readonly explain: boolean
  readonly identities: readonly string[]
  /** '' for never. */
  readonly expires: string
  readonly isAlive: boolean
  /** The secret; '' unless the token is new. */
  readonly token: string
  /** Parts of a new token that match nothing at the gateway. */
  readonly warnings: readonly string[]
}

/** Creates a token and prints it; the gateway stores only its hash. */
export async function runTokenCreate(input: Input, output: Output): Promise<void> {
  const expires = input.text('expires')
  const lists = (['clusters', 'origins', 'namespaces'] as const).flatMap((flag) => {
    const patterns = listOf(input, flag)
    return patterns.length === 0 ? [] : [[flag, patterns] as const]
  })
  const body = {
    name: input.text('name'),
    ...Object.fromEntries(lists),
    recurse: input.isSet('recurse'),
    ...(input.isSet('explain') && { explain: true }),
    identities: listOf(input, 'identity'),
    ...(expires === '' ? {} : { expiresInSeconds: seconds('expires', expires) }),
  }
  const created = await callGateway(input, 'POST', '/v1/tokens', JSON.stringify(body))
  printNew(input, output, created)
}

/** Prints all tokens. */
export async function runTokenList(input: Input, output: Output): Promise<void> {
  const text = await callGateway(input, 'GET', '/v1/tokens')
  if (input.isSet('json')) {
    output.stdout.write(text)
    return
  }
  const { tokens } = recordOf(JSON.parse(text))
  const rows = [
    [
      'ID',
      'NAME',
      'CLUSTERS',
      'ORIGINS',
      'NAMESPACES',
      'RECURSE',
      'EXPLAIN',
      'IDENTITIES',
      'EXPIRES',
    ],
    ...(Array.isArray(tokens) ? tokens.map(readInfo) : []).map((one) => [
      one.id,
      one.name === '' ? '-' : one.name,
      one.clusters,
      one.origins,
      one.namespaces,
      one.recurse ? 'yes' : 'no',
      one.explain ? 'yes' : 'no',
      one.identities.join(',') || '-',
      one.isAlive ? one.expires || 'never' : 'expired',
    ]),
  ]
  output.stdout.write(formatColumns(rows))
}

/** Revokes a token. */
export async function runTokenRevoke(input: Input, output: Output): Promise<void> {
  const [id = ''] = input.args
  await callGateway(input, 'DELETE', `/v1/tokens/${encodeURIComponent(id)}`)
  output.stdout.write(`revoked ${id}; running gateways refuse it within five seconds\n`)
}

/** Gives a token a new secret and prints it. */
export async function runTokenRotate(input: Input, output: Output): Promise<void> {
  const [id = ''] = input.args
  const grace = seconds('grace', input.text('grace'))
  const path = `/v1/tokens/${encodeURIComponent(id)}/rotate?graceSeconds=${grace}`
  printNew(input, output, await callGateway(input, 'POST', path))
}

function printNew(input: Input, output: Output, text: string): void {
  if (input.isSet('json')) {
    output.stdout.write(text)
    return
  }
  const { token, id, expires, warnings } = readInfo(JSON.parse(text))
  for (const warning of warnings) output.stderr.write(`warning: ${warning}\n`)
  output.stdout.write(`${token}\n`)
  const until = expires === '' ? 'it is revoked' : expires
  output.stderr.write(`token ${id} is valid until ${until} and is not shown again. Try it:\n`)
  const url = new URL('/resolve', input.text('gateway'))
  output.stderr.write(`  curl -H "Authorization: Bearer ${token}" "${url.href}?name=NAME"\n`)
}

function listOf(input: Input, flag: FlagName): string[] {
  return input.texts(flag).flatMap((text) => text.split(',').filter((part) => part !== ''))
}

function seconds(flag: FlagName, text: string): number {
  const value = parseDuration(text)
  if (value !== undefined) return value
  throw new CommandError(`--${flag} is "${text}", expected a duration like 12h or 90d`)
}

function readInfo(value: unknown): TokenInfo {
  const fields = recordOf(value)
  const text = (name: string): string => String(fields[name] ?? '')
  const texts = (name: string): readonly string[] => {
    const list = fields[name]
    return Array.isArray(list) ? list.map(String) : []
  }
  return {
    id: text('id'),
    name: text('name'),
    clusters: text('clusters'),
    origins: text('origins'),
    namespaces: text('namespaces'),
    recurse: fields.recurse === true,
    explain: fields.explain === true,
    identities: texts('identities'),
    expires: text('expires'),
    isAlive: fields.isAlive === true,
    token: text('token'),
    warnings: texts('warnings'),
  }
}
