/**
 * The gateway's variables as files of a folder, such as a mounted Secret.
 * @module
 */
import { join } from 'node:path'
import { GATEWAY_VARIABLES, type GatewayVariables } from '../../gateway/config/config.ts'
import { CommandError } from '../../server/node/output.ts'
import { fileState, requireTextFile } from '../../server/node/read-files.ts'
import type { Input } from '../flags/flags.ts'

/** Most characters of a variable: a Secret has 1 MiB in all. */
const CHARACTERS_MAX = 1024 * 1024

/**
 * Returns a function that reads the variables: the file of its name in the folder of
 * `KUBEDOH_VARIABLES`, without white space at its end, else the environment. A variable that had a
 * file and has none any more is unset: the environment of a pod may still have what the Secret had
 * when the pod started.
 * @throws {CommandError} the function: without the folder, for a file that cannot be read, and one
 * over 1 MiB
 */
export function variablesReader(input: Input): () => GatewayVariables {
  const folder = input.env('KUBEDOH_VARIABLES')
  const hadFile = new Set<string>()
  const read = (name: (typeof GATEWAY_VARIABLES)[number]): string => {
    const path = join(folder, name)
    const hasFile = folder !== '' && fileState(path) !== undefined
    if (!hasFile) return hadFile.has(name) ? '' : input.env(name)
    const text = requireTextFile(path)
    if (text.length > CHARACTERS_MAX) {
      throw new CommandError(`KUBEDOH_VARIABLES: ${name} has over ${CHARACTERS_MAX} characters`)
    }
    hadFile.add(name)
    return text.trimEnd()
  }
  return () => {
    if (folder !== '' && fileState(folder) === undefined) {
      throw new CommandError(`KUBEDOH_VARIABLES: cannot read the folder ${folder}`)
    }
    return Object.fromEntries(GATEWAY_VARIABLES.map((name) => [name, read(name)]))
  }
}
