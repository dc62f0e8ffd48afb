/**
 * How to get a token, and the field to enter one.
 * @module
 */
import { useState } from 'hono/jsx/dom'
import { Command } from './command.tsx'
import type { Person } from './login.ts'
import { readToken } from './session.ts'
import { SignIn, type SignInState } from './sign-in.tsx'

/** A token that is not valid any more, and whose login gave it, if one did. */
type Had = { readonly person?: Person | undefined }

/** Explains why the visitor sees nothing, has buttons to sign in, and takes a token. */
export function TokenEntry({
  had,
  isPublic,
  signIn,
  onToken,
}: {
  readonly had: Had | undefined
  readonly isPublic: boolean
  readonly signIn: SignInState
  readonly onToken: (token: string) => void
}) {
  const hasLogins = signIn.places.length > 0
  const [problem, setProblem] = useState('')
  const submit = (event: Event): void => {
    event.preventDefault()
    const field = document.getElementById('token')
    const token = field instanceof HTMLInputElement ? readToken(field.value) : ''
    setProblem(token === '' ? 'This is neither a token nor a link with one.' : '')
    if (token !== '') onToken(token)
  }
  const [title, text] = wordsFor(had, isPublic, hasLogins)
  return (
    <section class="card" aria-labelledby="token-title">
      <h2 id="token-title">{title}</h2>
      <p>{text}</p>
      <SignIn {...signIn} />
      {hasLogins && <h3 class="other">With a token</h3>}
      <form class="row" onSubmit={submit}>
        <label class="sr" for="token">
          Token, or a link with one
        </label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          placeholder="kdt_…"
          aria-invalid={problem === '' ? 'false' : 'true'}
          aria-describedby="token-problem"
        />
        <button type="submit" class={hasLogins ? 'quiet' : ''}>
          Use token
        </button>
      </form>
      <p id="token-problem" class="problem" role="status">
        {problem}
      </p>
      {!hasLogins && (
        <>
          <h3>No token yet?</h3>
          <p>The operator of this gateway creates one with this command:</p>
          <Command text={`kubedoh token create YOUR-NAME --gateway ${location.origin}`} />
        </>
      )}
    </section>
  )
}

function wordsFor(
  had: Had | undefined,
  isPublic: boolean,
  hasLogins: boolean,
): readonly [title: string, text: string] {
  if (had?.person !== undefined) {
    return [
      'Sign in again',
      'Your login has ended, or an operator revoked it, or changed what it allows.',
    ]
  }
  if (had !== undefined) {
    return [
      'This token is not valid',
      'It is mistyped, or its operator revoked it, or it expired. Ask for a new one.',
    ]
  }
  const how = hasLogins ? 'sign in' : 'enter a token'
  if (isPublic) {
    const text = `Everybody can query this gateway. To list the names of its clusters, ${how}.`
    return ['Browse the names', text]
  }
  if (hasLogins) {
    return [
      'Sign in',
      'This gateway resolves the names of Kubernetes clusters for people it knows.',
    ]
  }
  return [
    'You need a token',
    'This gateway resolves the names of Kubernetes clusters for people with a token.',
  ]
}
