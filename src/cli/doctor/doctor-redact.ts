/**
 * Takes secrets out of texts that leave the machine.
 * @module
 */

/** Stands for a secret. */
const REDACTED = '[redacted]'
/** Shortest value that is known to be a secret: shorter ones are words of other texts, too. */
const SECRET_LENGTH_MIN = 6
/** Names of variables, fields and options whose values are secrets. */
const SECRET_NAME = new RegExp(
  'secret|passw|token|credential|private|signing|hmac|authorization|' +
    '(?:access|api)[_-]?key|key[_-]?data',
  'i',
)

/** Secrets that look like ones, wherever they are. */
const SHAPES: readonly (readonly [shape: RegExp, instead: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  // JSON Web Tokens (RFC 7519), as those of service accounts.
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, REDACTED],
  // Tokens of clients; those in hostnames.
  [/\bkdt_[0-9a-f]{12}_[\w-]+/g, REDACTED],
  [/\b(?=[a-z]*\d)(?=\d*[a-z])[0-9a-hjkmnp-tv-z]{26}(?=\.)/gi, REDACTED],
  [/\b(Bearer|Basic) +[^\s"',]+/gi, `$1 ${REDACTED}`],
  // Users, passwords and queries of URLs (RFC 3986).
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#@"']*@/gi, `$1${REDACTED}@`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s?#"']*\?)[^\s#"']+/gi, `$1${REDACTED}`],
  // Keys in hexadecimal and in base64; digests of images are none.
  [/(?<!\w|sha256:)[0-9a-f]{32,}(?!\w)/gi, REDACTED],
  [/(?<![\w+/])(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])[\w+/-]{40,}={0,2}/g, REDACTED],
]

/**
 * Returns a function that takes secrets out of a text.
 * @param secrets values that are secrets, wherever they are; short ones do not count
 */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const known = secrets
    .map((secret) => secret.trim())
    .filter(({ length }) => length >= SECRET_LENGTH_MIN)
    .toSorted((a, b) => b.length - a.length)
  return (text) => {
    const without = known.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
    return SHAPES.reduce((rest, [shape, instead]) => rest.replace(shape, instead), without)
  }
}

/** Takes what follows the name of a secret, on its line, out of a Corefile. */
export function redactCorefile(text: string): string {
  return text.replace(/^.*$/gm, (line) => {
    const end = endOfSecretName(line)
    return end === undefined ? line : `${line.slice(0, end)} ${REDACTED}`
  })
}

/** Returns the words that `redactCorefile` takes out, and the users in URLs: logs may have them. */
export function corefileSecrets(text: string): string[] {
  const words = text.split('\n').flatMap((line) => {
    const end = /^\s*#/.test(line) ? undefined : endOfSecretName(line)
    return end === undefined ? [] : line.slice(end).split(/[\s"=?&@:]+/)
  })
  const users = [...text.matchAll(/:\/\/([^\s/?#@"']+)@/g)].flatMap(([, user = '']) =>
    user.split(':'),
  )
  return [...words, ...users]
}

/** Returns where the name of a secret ends in a line; `undefined` without one, or a value. */
function endOfSecretName(line: string): number | undefined {
  const named = SECRET_NAME.exec(line)
  if (named === null) return undefined
  const end = named.index + (/^[\w-]*/.exec(line.slice(named.index))?.[0].length ?? 0)
  return /^[\s{]*$/.test(line.slice(end)) ? undefined : end
}

/** Returns the values of variables that are named as secrets are. */
export function environmentSecrets(environment: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    SECRET_NAME.test(name) && typeof value === 'string' ? value : [],
  )
}

/** Returns the values of a kubeconfig, YAML or JSON, that are named as secrets are, or `value`. */
export function kubeconfigSecrets(text: string): string[] {
  const fields = text.matchAll(/([\w-]+)["']?[ \t]*:[ \t]*(?:"([^"]*)"|'([^']*)'|([^\s"',}]+))/g)
  return [...fields].flatMap(([, name = '', ...values]) => {
    const isSecret = SECRET_NAME.test(name) || name === 'value'
    return isSecret ? (values.find((value) => value !== undefined) ?? []) : []
  })
}
