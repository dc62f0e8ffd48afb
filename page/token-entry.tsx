/**
 * How to get a token, and the field to enter one.
 * @module
 */
import { useState } from 'hono/jsx/dom'
import { Command } from './command.tsx'
import { readToken } from './session.ts'

/** Explains why the visitor sees nothing, and takes a token or a link with one. */
export function TokenEntry({
  hadToken,
  isPublic,
  onToken,
}: {
  readonly hadToken: boolean
  readonly isPublic: boolean
  readonly onToken: (token: string) => void
}) {
  const [problem, setProblem] = useState('')
  const submit = (event: Event): void => {
    event.preventDefault()
    const field = document.getElementById('token')
    const token = field instanceof HTMLInputElement ? readToken(field.value) : ''
    setProblem(token === '' ? 'This is neither a token nor a link with one.' : '')
    if (token !== '') onToken(token)
  }
  const [title, text] = hadToken
    ? [
        'This token is not valid',
        'It is mistyped, or its operator revoked it, or it expired. Ask for a new one.',
      ]
    : isPublic
      ? [
          'Browse the names',
          'Everybody can query this gateway. To list the names of its clusters, enter a token.',
        ]
      : [
          'You need a token',
          'This gateway resolves the names of Kubernetes clusters for people with a token.',
        ]
  return (
    <section class="card" aria-labelledby="token-title">
      <h2 id="token-title">{title}</h2>
      <p>{text}</p>
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
        <button type="submit">Use token</button>
      </form>
      <p id="token-problem" class="problem" role="status">
        {problem}
      </p>
      <h3>No token yet?</h3>
      <p>The operator of this gateway creates one with this command:</p>
      <Command text={`kubedoh token create YOUR-NAME --gateway ${location.origin}`} />
    </section>
  )
}
