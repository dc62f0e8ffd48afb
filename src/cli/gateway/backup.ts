/**
 * `kubedoh backup` and `restore`, `token export` and `import`: what a gateway has that exporters do
 * not publish again, as a file.
 * @module
 */
import { readFileSync, statSync } from 'node:fs'
import { errorText, isTexts, listOf, parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import {
  BACKUP_BYTES_MAX,
  type Backup,
  BackupError,
  backupLines,
  type PinnedCluster,
  parseBackup,
} from '../../gateway/access/backup.ts'
import { isRevocation } from '../../gateway/access/token.ts'
import { CommandError, type Output, whyUnreadable } from '../../server/node/output.ts'
import { writeWholeFile } from '../../server/node/whole-file.ts'
import type { Input } from '../flags/flags.ts'
import { callGateway, GatewayRefusal } from '../flags/operator-call.ts'
import { clusterPath } from './cluster.ts'
import { readStatus } from './status.ts'

/** The command itself does nothing meanwhile. */
const noPause = (): undefined => undefined
/** Clusters that a warning names. */
const NAMED_MAX = 10

/** Prints the tokens of a gateway, as hashes. */
export async function runTokenExport(input: Input, { stdout }: Output): Promise<void> {
  const text = await callGateway(input, 'GET', '/v1/backup?only=tokens')
  await parse(text, input.text('gateway'))
  stdout.write(bounded(text))
}

/** Writes or prints the backup of a gateway, with the generations of pinned clusters. */
export async function runBackup(input: Input, { stdout, stderr }: Output): Promise<void> {
  const backup = await parse(await callGateway(input, 'GET', '/v1/backup'), input.text('gateway'))
  const pins: PinnedCluster[] = []
  for (const one of await readStatus(input)) {
    const { cluster, state, isPinned, generation } = recordOf(one)
    if (typeof cluster !== 'string') continue
    if (isPinned === true && typeof generation === 'number') pins.push({ cluster, generation })
    if (state === 'no_answer' || state === 'failed') {
      stderr.write(`warning: ${cluster} does not answer; a pin of it is not in the backup\n`)
    }
  }
  const text = bounded((await backupLines({ ...backup, pins }, noPause)).join(''))
  const [file] = input.args
  if (file === undefined) {
    stdout.write(text)
    return
  }
  await writeWholeFile(file, text).catch((error: unknown) => {
    throw new CommandError(`Cannot write ${file}: ${errorText(error)}`, { cause: error })
  })
}

/** Returns a document as it is. @throws {CommandError} for one that no gateway would take back */
function bounded(text: string): string {
  if (Buffer.byteLength(text) <= BACKUP_BYTES_MAX) return text
  throw new CommandError('the tokens and clusters have over 16 MiB, which no gateway takes back')
}

/** Adds the tokens of a file to a gateway. */
export async function runTokenImport(input: Input, output: Output): Promise<void> {
  const [file = ''] = input.args
  const { text, backup } = await readBackup(file)
  if (backup.kind !== 'tokens') {
    throw new CommandError(`${file} has more than tokens; pass it to "kubedoh restore"`)
  }
  await add(input, output, { text, backup })
}

/** Adds what a backup has to a gateway, and pins its clusters as they were. */
export async function runRestore(input: Input, output: Output): Promise<void> {
  const { text, backup } = await readBackup(input.args[0] ?? '')
  await add(input, output, { text, backup })
  for (const pin of backup.pins) await restorePin(input, output, pin)
  const { clusters } = recordOf(parseJson(await callGateway(input, 'GET', '/v1/clusters')))
  const present = new Set(listOf(clusters).map((one) => recordOf(one).id))
  const missing = backup.known.filter((id) => !present.has(id))
  if (missing.length === 0) return
  output.stderr.write(`warning: the gateway lacks clusters that CLUSTERS had: ${named(missing)}\n`)
}

async function add(
  input: Input,
  { stdout, stderr }: Output,
  { text, backup }: { readonly text: string; readonly backup: Backup },
): Promise<void> {
  const added = recordOf(parseJson(await callGateway(input, 'POST', '/v1/backup', text)))
  const [tokens, clusters] = [recordOf(added.tokens), recordOf(added.clusters)]
  const lines = [formatAdded('tokens', tokens)]
  if (backup.kind === 'backup') lines.push(formatAdded('clusters', clusters))
  stdout.write(lines.join(''))
  const clients = new Set(backup.tokens.filter((one) => !isRevocation(one)).map(({ id }) => id))
  // All of them: the operator has to find those that were revoked or removed.
  const warn = (what: string, gone: string, added: unknown): void => {
    const ids = isTexts(added) ? added : []
    if (ids.length === 0) return
    const since = `also if they were ${gone} since ${backup.created}`
    stderr.write(`warning: these ${what} now, ${since}: ${ids.join(' ')}\n`)
  }
  warn(
    'tokens are valid',
    'revoked',
    listOf(tokens.added).filter((id) => clients.has(String(id))),
  )
  warn('clusters may publish', 'removed', clusters.added)
}

function formatAdded(what: string, { added, same }: Readonly<Record<string, unknown>>): string {
  return `${listOf(added).length} ${what} added, ${String(same)} as before\n`
}

function named(ids: readonly string[]): string {
  const rest = ids.length - NAMED_MAX
  return ids.slice(0, NAMED_MAX).join(' ') + (rest > 0 ? ` and ${rest} more` : '')
}

/** A lost volume has lost the generation, too: the exporter publishes newer ones only. */
async function restorePin(
  input: Input,
  { stdout, stderr }: Output,
  { cluster, generation }: PinnedCluster,
): Promise<void> {
  try {
    const body = JSON.stringify({ generation })
    await callGateway(input, 'PUT', `${clusterPath(cluster)}/pin`, body)
    stdout.write(`${cluster} is pinned to generation ${generation}\n`)
  } catch (error) {
    if (!(error instanceof GatewayRefusal)) throw error
    stderr.write(`warning: ${cluster} was pinned to generation ${generation}: ${error.message}\n`)
  }
}

async function readBackup(
  file: string,
): Promise<{ readonly text: string; readonly backup: Backup }> {
  let text: string
  try {
    if (statSync(file).size > BACKUP_BYTES_MAX) throw new CommandError(`${file} is over 16 MiB`)
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`Cannot read ${file}: ${whyUnreadable(file)}`)
  }
  return { text, backup: await parse(text, file) }
}

/** @throws {CommandError} with the place and the number of the line */
async function parse(text: string, place: string): Promise<Backup> {
  try {
    return await parseBackup(text, noPause)
  } catch (error) {
    if (!(error instanceof BackupError)) throw error
    throw new CommandError(`${place}:${error.line}: the line ${error.message}`)
  }
}
