/**
 * `kubedoh token …`: manages the client tokens of a gateway.
 * @module
 */
import { isTexts, recordOf } from '../../dns/bytes/unknown.ts'
import { hostTokenOf, tokenId } from '../../gateway/access/token.ts'
import { isTokenDomain } from '../../gateway/config/config.ts'
import { TOKEN_ROLES } from '../../gateway/config/issuers.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { durationSeconds } from '../flags/duration.ts'
import type { FlagName, Input } from '../flags/flags.ts'
import { callGateway, formatColumns, idOf, printResponse } from '../flags/operator-call.ts'
import { checkKit, writeKit } from './kit.ts'

/** Creates a token and prints it; the gateway stores only its hash. */
export async function runTokenCreate(input: Input, output: Output): Promise<void> {
  const expires = input.text('expires')
  const lists = (['clusters', 'origins', 'namespaces'] as const).flatMap((flag) => {
    const patterns = listOf(input, flag)
    return patterns.length === 0 ? [] : [[flag, patterns] as const]
  })
  const allowed = listOf(input, 'allow')
  const role = TOKEN_ROLES.find((one) => allowed.includes(one))
  const body = {
    name: input.args[0] ?? '',
    ...Object.fromEntries(lists),
    recurse: allowed.includes('recurse'),
    ...(allowed.includes('explain') && { explain: true }),
    ...(role !== undefined && { role }),
    // What is none of these words either, the gateway refuses.
    identities: allowed.filter((one) => !['recurse', 'explain', role].includes(one)),
    ...(expires === '' ? {} : { expiresInSeconds: seconds('expires', expires) }),
  }
  checkKit(input)
  const created = await callGateway(input, 'POST', '/v1/tokens', JSON.stringify(body))
  printNew(input, output, created)
  const folder = input.text('kit')
  if (folder === '') return
  await writeKit(input, created)
  output.stderr.write(`set-up files for devices are in ${folder}; begin with README.md there\n`)
}

const COLUMNS =
  'ID NAME CLUSTERS ORIGINS NAMESPACES RECURSE EXPLAIN IDENTITIES ROLE EXPIRES USED'.split(' ')

/** Prints all tokens. */
export async function runTokenList(input: Input, output: Output): Promise<void> {
  const text = await callGateway(input, 'GET', '/v1/tokens')
  printResponse(input, output, [text, formatTokens])
}

function formatTokens(value: unknown): string {
  const { tokens } = recordOf(value)
  const rows = (Array.isArray(tokens) ? tokens : []).map((token) => {
    const one = recordOf(token)
    return [
      String(one.id),
      String(one.name || '-'),
      String(one.clusters ?? ''),
      String(one.origins ?? ''),
      String(one.namespaces ?? ''),
      one.recurse === true ? 'yes' : 'no',
      one.explain === true ? 'yes' : 'no',
      String(one.identities ?? '') || '-',
      String(one.role ?? '-'),
      one.isAlive === true ? String(one.expires ?? 'never') : 'expired',
      String(one.lastUsed ?? 'never'),
    ]
  })
  return formatColumns([COLUMNS, ...rows])
}

/** Revokes a token. */
export async function runTokenRevoke(input: Input, output: Output): Promise<void> {
  const [given = '', name] = input.args
  if (name !== undefined) {
    const subject = `${given} ${name}`
    const body = JSON.stringify({ subject })
    const { id } = recordOf(
      JSON.parse(await callGateway(input, 'POST', '/v1/tokens/revocations', body)),
    )
    const undo = `kubedoh token revoke ${String(id)}`
    output.stdout.write(`revoked all tokens of ${subject} until now; ${undo} takes it back\n`)
    return
  }
  const id = idOf(given)
  await callGateway(input, 'DELETE', `/v1/tokens/${encodeURIComponent(id)}`)
  output.stdout.write(`revoked ${id}; running gateways refuse it within five seconds\n`)
}

/** Gives a token a new secret and prints it. */
export async function runTokenRotate(input: Input, output: Output): Promise<void> {
  const id = idOf(input.args[0])
  const grace = seconds('grace', input.text('grace'))
  const path = `/v1/tokens/${encodeURIComponent(id)}/rotate?graceSeconds=${grace}`
  printNew(input, output, await callGateway(input, 'POST', path))
}

/** Prints the hostname with a token in it. @throws {CommandError} without the gateway's token */
export async function runTokenHost(input: Input, output: Output): Promise<void> {
  const token = input.env('KUBEDOH_CLIENT_TOKEN').trim()
  if (tokenId(token) === undefined) {
    throw new CommandError('KUBEDOH_CLIENT_TOKEN has no token of "kubedoh token create"')
  }
  const [domain = ''] = input.args
  if (!isTokenDomain(domain)) throw new CommandError(`"${domain}" is not like doh.example.org`)
  output.stdout.write(`${await hostTokenOf(token)}.${domain}\n`)
}

/** Returns to the tokens of a time, and prints which came back, went and changed. */
export async function runTokenRestore(input: Input, output: Output): Promise<void> {
  const body = JSON.stringify({ at: input.text('at') })
  const text = await callGateway(input, 'POST', '/v1/tokens/restore', body)
  printResponse(input, output, [text, formatRestored])
  const { returned, changed } = recordOf(JSON.parse(text))
  if (countOf(returned) + countOf(changed) === 0) return
  output.stderr.write('warning: revoked tokens and secrets of that time are valid again; see IDs\n')
}

function formatRestored(value: unknown): string {
  const { at, tokens, returned, removed, changed } = recordOf(value)
  const lines = [
    formatIds(returned, 'came back'),
    formatIds(removed, 'went'),
    formatIds(changed, 'changed'),
    `${String(tokens)} tokens, those of ${String(at)}`,
  ]
  return `${lines.join('\n')}\n`
}

function formatIds(ids: unknown, what: string): string {
  return countOf(ids) === 0 ? `0 ${what}` : `${countOf(ids)} ${what}: ${String(ids)}`
}

function countOf(ids: unknown): number {
  return Array.isArray(ids) ? ids.length : 0
}

/** Prints a new token alone to standard output, so that no log has it that keeps the rest. */
function printNew(input: Input, output: Output, text: string): void {
  if (input.isSet('json')) {
    output.stdout.write(text)
    return
  }
  const { token, id, expires, warnings, hostname } = recordOf(JSON.parse(text))
  for (const warning of isTexts(warnings) ? warnings : []) {
    output.stderr.write(`warning: ${warning}\n`)
  }
  output.stdout.write(`${token}\n`)
  const until = expires ?? 'it is revoked'
  output.stderr.write(`token ${id} is valid until ${until} and is not shown again. Try it:\n`)
  const url = new URL('/resolve', input.text('gateway'))
  const ca = input.text('ca')
  const trust = ca === '' ? '' : `--cacert "${ca}" `
  output.stderr.write(`  curl ${trust}-H "Authorization: Bearer TOKEN" "${url.href}?name=NAME"\n`)
  if (typeof hostname !== 'string') return
  const domain = hostname.slice(hostname.indexOf('.') + 1)
  output.stderr.write(`as a hostname, for clients without URLs: kubedoh token host ${domain}\n`)
}

function listOf(input: Input, flag: FlagName): string[] {
  return input.texts(flag).flatMap((text) => text.split(',').filter((part) => part !== ''))
}

function seconds(flag: FlagName, text: string): number {
  const value = durationSeconds(text)
  if (value !== undefined) return value
  throw new CommandError(`--${flag} is "${text}", expected a duration like 12h or 90d`)
}
