/**
 * `kubedoh token create --kit`: writes the onboarding kit of a new token.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorText, isTexts, recordOf, textOf } from '../../dns/bytes/unknown.ts'
import { KitError, kitFiles, readKit } from '../../gateway/onboarding/kit.ts'
import { CommandError } from '../../server/node/output.ts'
import type { Input } from '../flags/flags.ts'
import { readGatewayUrl } from '../flags/operator-call.ts'

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
const OPENSSL_MS = 10_000
const PROFILE = 'apple.mobileconfig'

/**
 * Checks what a kit is made from, before there is a token.
 * @throws {CommandError} for a folder that is not empty, a gateway without TLS, an invalid domain,
 *   and half of a signature
 */
export function checkKit(input: Input): void {
  const folder = input.text('kit')
  if (folder === '') return
  // A wrong --gateway is another error than one without TLS.
  withoutKitError(() => readKit(readGatewayUrl(input), '', domainsOf(input, ['example.org'])))
  if ((input.env('KUBEDOH_PROFILE_CERT') === '') !== (input.env('KUBEDOH_PROFILE_KEY') === '')) {
    throw new CommandError('KUBEDOH_PROFILE_CERT and KUBEDOH_PROFILE_KEY belong together: set both')
  }
  try {
    if (!existsSync(folder) || readdirSync(folder).length === 0) return
  } catch (error) {
    throw new CommandError(`--kit ${folder}: ${errorText(error)}`)
  }
  throw new CommandError(`--kit ${folder} is not empty; name a new folder`)
}

/**
 * Writes the kit, readable by its owner only.
 * @param created the gateway's response to the request for the token
 * @throws {CommandError} when the token sees no domain, or a file cannot be written or signed
 */
export async function writeKit(input: Input, created: string): Promise<void> {
  const { id, token, domains, audiences, hostname } = recordOf(JSON.parse(created))
  const to = domainsOf(input, isTexts(domains) ? domains : [])
  const folder = input.text('kit')
  if (to.length === 0) {
    throw new CommandError(
      'No kit: the token sees no domain of a cluster. Set KUBEDOH_KIT_DOMAINS and create ' +
        `another, then revoke this one: kubedoh token revoke ${String(id)}`,
    )
  }
  const { github, gitlab } = recordOf(audiences)
  const jobs = { github: textOf(github), gitlab: textOf(gitlab) }
  const extras = { audiences: jobs, hostname: textOf(hostname) }
  const kit = withoutKitError(() => readKit(readGatewayUrl(input), String(token), to, extras))
  const files = await kitFiles(kit)
  try {
    mkdirSync(folder, { recursive: true, mode: FOLDER_MODE })
    for (const { name, text } of files) {
      const isSigned = name === PROFILE && input.env('KUBEDOH_PROFILE_CERT') !== ''
      const bytes = isSigned ? sign(input, text) : text
      writeFileSync(join(folder, name), bytes, { mode: FILE_MODE, flag: 'wx' })
    }
  } catch (error) {
    throw new CommandError(`--kit ${folder}: ${errorText(error)}`)
  }
}

function domainsOf(input: Input, otherwise: readonly string[]): readonly string[] {
  const given = input.env('KUBEDOH_KIT_DOMAINS').split(',').filter(Boolean)
  return given.length > 0 ? given : otherwise
}

function withoutKitError<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof KitError ? new CommandError(`--kit: ${error.message}`) : error
  }
}

/** Signs as Apple's systems read it: CMS with the content inside, by openssl. Node has no CMS. */
function sign(input: Input, text: string): Uint8Array {
  const chain = input.env('KUBEDOH_PROFILE_CERT')
  // -certfile has the signer's certificate too, which openssl refuses to add twice.
  const key = [
    '-signer',
    chain,
    '-nocerts',
    '-certfile',
    chain,
    '-inkey',
    input.env('KUBEDOH_PROFILE_KEY'),
  ]
  const how = ['cms', '-sign', '-nodetach', '-binary', '-outform', 'DER', ...key]
  const { status, stdout, stderr, error } = spawnSync('openssl', how, {
    input: text,
    timeout: OPENSSL_MS,
  })
  if (status === 0) return stdout
  const [reason = ''] = error === undefined ? stderr.toString().split('\n') : [error.message]
  throw new Error(`openssl cannot sign ${PROFILE}: ${reason}`)
}
