/**
 * `kubedoh stats`: counts the answers of a Worker, by the SQL API of Analytics Engine
 * (developers.cloudflare.com/analytics/analytics-engine/sql-api).
 * @module
 */
import { causeText, listOf, parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import { LOOPBACK } from '../../server/http/doh-listener.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { durationSeconds } from '../flags/duration.ts'
import type { Input } from '../flags/flags.ts'
import { formatColumns, printResponse, trimToken } from '../flags/operator-call.ts'

const TIMEOUT_MS = 30_000
/** Most rows of the result. */
const ROWS_MAX = 100
/** Most characters of an error of the API that are printed. */
const ERROR_CHARS_MAX = 200
const API = 'https://api.cloudflare.com/client/v4'
const DATASET = 'kubedoh'

/** Columns of the data points (docs/analytics.md) that answers can be counted by. */
const COLUMNS: Readonly<Record<string, string>> = {
  cluster: 'blob1',
  rcode: 'blob2',
  type: 'blob3',
  method: 'blob4',
  freshness: 'blob5',
  token: 'blob7',
  colo: 'blob8',
  country: 'blob9',
}

/** Prints the counts, or without the account's credentials the query for them. */
export async function runStats(input: Input, output: Output): Promise<void> {
  const sql = writeQuery(input)
  const account = input.env('CLOUDFLARE_ACCOUNT_ID').trim()
  const token = trimToken(input.env('CLOUDFLARE_API_TOKEN'), 'CLOUDFLARE_API_TOKEN')
  if (account === '' && token === '') {
    output.stdout.write(sql)
    const both = 'CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN (Account Analytics: Read)'
    output.stderr.write(`set ${both} to run this query\n`)
    return
  }
  if (!/^[0-9a-f]{32}$/.test(account)) {
    throw new CommandError(`CLOUDFLARE_ACCOUNT_ID is "${account}", expected 32 hexadecimal digits`)
  }
  if (token === '') throw new CommandError('CLOUDFLARE_API_TOKEN is not set')
  const url = `${readApi(input)}/accounts/${account}/analytics_engine/sql`
  printResponse(input, output, [await send(url, token, sql), formatRows])
}

function writeQuery(input: Input): string {
  const [dataset = DATASET] = input.args
  if (!/^[A-Za-z_]\w{0,63}$/.test(dataset)) {
    throw new CommandError(`"${dataset}" is not the name of a data set`)
  }
  const text = input.text('since')
  const seconds = durationSeconds(text)
  if (seconds === undefined) {
    throw new CommandError(`--since is "${text}", expected a duration like 12h or 90d`)
  }
  const names = [...new Set(input.text('by').split(','))]
  const columns = names.map((name) => {
    const column = Object.hasOwn(COLUMNS, name) ? COLUMNS[name] : undefined
    if (column !== undefined) return `${column} AS ${name}`
    const known = Object.keys(COLUMNS).join(', ')
    throw new CommandError(`--by has "${name}", expected some of ${known}`)
  })
  return `SELECT ${columns.join(', ')}, SUM(_sample_interval) AS answers
FROM ${dataset}
WHERE timestamp > NOW() - INTERVAL '${seconds}' SECOND
GROUP BY ${names.join(', ')}
ORDER BY answers DESC
LIMIT ${ROWS_MAX}
`
}

/** Wrangler has the same variable. The token goes to no other machine unencrypted. */
function readApi(input: Input): string {
  const text = input.env('CLOUDFLARE_API_BASE_URL') || API
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isSafe = url?.protocol === 'https:' || LOOPBACK.has(url?.hostname ?? '')
  if (isSafe) return text.replace(/\/+$/, '')
  throw new CommandError(`CLOUDFLARE_API_BASE_URL "${text}" is not an https:// URL`)
}

async function send(url: string, token: string, sql: string): Promise<string> {
  const { host } = new URL(url)
  const headers = { authorization: `Bearer ${token}` }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const request = { method: 'POST', body: sql, headers, signal, redirect: 'manual' } as const
  try {
    const response = await fetch(url, request)
    const text = await response.text()
    if (response.ok && Array.isArray(recordOf(parseJson(text)).data)) return text
    const [error] = listOf(recordOf(parseJson(text)).errors)
    const { message = text } = recordOf(error)
    const problem = String(message).trim().replace(/\s+/g, ' ').slice(0, ERROR_CHARS_MAX)
    throw new CommandError(`${host}: HTTP status ${response.status}: ${problem}`)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${host}: ${causeText(error)}`)
  }
}

function formatRows(value: unknown): string {
  const { meta, data } = recordOf(value)
  const names = listOf(meta).map((column) => String(recordOf(column).name))
  const rows = listOf(data).map((row) => {
    const fields = recordOf(row)
    return names.map((name) => String(fields[name] ?? '') || '-')
  })
  return formatColumns([names.map((name) => name.toUpperCase()), ...rows])
}
