/**
 * An environment of `wrangler.toml`, and what it lacks of what the Worker needs.
 * @module
 */

/** What `deploy` uses of a configuration, as wrangler reads it for one environment. */
export type WorkerEnvironment = {
  /** `undefined` or '' for the top level. */
  readonly targetEnvironment?: string | undefined
  /** Names of all environments in the file. */
  readonly definedEnvironments?: readonly string[] | undefined
  readonly vars: Readonly<Record<string, unknown>>
  readonly durable_objects: { readonly bindings: readonly { readonly name: string }[] }
  readonly secrets?: { readonly required?: readonly string[] } | undefined
  /** Whether variables that the dashboard has stay. */
  readonly keep_vars?: boolean | undefined
}

/** Durable Objects of the Worker. */
const OBJECTS = ['CLUSTER', 'TOKENS']

/** Returns the start of the name of a section, `env.staging.` for example; '' for the top level. */
export function sectionPrefix({ targetEnvironment: name }: WorkerEnvironment): string {
  return name ? `env.${name}.` : ''
}

/**
 * Returns what to add to the file, in one line; `undefined` if the environment lacks nothing.
 * @param names of the variables that the Worker needs. A secret counts if the file requires it.
 */
export function findMissing(
  environment: WorkerEnvironment,
  names: readonly string[],
): string | undefined {
  const { vars, durable_objects: objects, secrets, keep_vars: keepsOthers } = environment
  const prefix = sectionPrefix(environment)
  const bound = objects.bindings.map(({ name }) => name)
  const isHere = (name: string): boolean =>
    name in vars || keepsOthers === true || secrets?.required?.includes(name) === true
  const variables = names.filter((name) => !isHere(name))
  const bindings = OBJECTS.filter((name) => !bound.includes(name))
  const parts = [
    ...(variables.length === 0 ? [] : [`${variables.join(' and ')} to [${prefix}vars]`]),
    ...(bindings.length === 0
      ? []
      : [`${bindings.join(' and ')} as [[${prefix}durable_objects.bindings]]`]),
  ]
  if (parts.length === 0) return undefined
  const why = prefix === '' ? '' : ', and an environment does not inherit them'
  return `add ${parts.join(', and ')}: the Worker needs them${why}`
}
