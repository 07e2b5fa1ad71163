/**
 * What a visitor sees who is not signed in, or may not read: how to sign in here, and a field for it. As a banner it stands
 * above the last state of the page, so that nothing on the screen is lost when a sign-in ends.
 */

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { linkProblem, linkStatus } from '../lib/live.ts';
import { giveToken, signInMode, token } from '../lib/site.ts';

/** Instructions for a visitor who cannot read anything. */
export function SignInPage(): VNode {
  return (
    <main class="gate" id="main">
      <h1 tabIndex={-1}>{titleOf()}</h1>
      <SignIn />
    </main>
  );
}

/** The same above the page, which shows its last state. */
export function SignInBanner(): VNode {
  return (
    <section class="banner sign-in" role="alert" aria-label={titleOf()}>
      <h2>{titleOf()}</h2>
      <p>The page shows its last state. It continues here after the sign-in.</p>
      <SignIn />
    </section>
  );
}

function titleOf(): string {
  if (linkStatus.value === 403) return 'You may not see this page';
  const isRefused = token.value !== '';
  switch (signInMode) {
    case 'token':
      return isRefused ? 'This address is no longer valid' : 'An address with a token is needed';
    case 'kubernetes':
      return isRefused ? 'Your sign-in has ended' : 'Sign in with a token of the cluster';
    case 'proxy':
      return 'Sign in through the proxy';
  }
}

function SignIn(): VNode {
  const problem = linkProblem.value.replace(/^401 unauthorized: /, '');
  // That the token of a page is wrong is in the title already.
  const isShown = problem !== '' && (signInMode !== 'token' || !linkProblem.value.startsWith('401'));
  return (
    <>
      {isShown && <p class="error">{problem}</p>}
      <HowTo />
    </>
  );
}

function HowTo(): VNode {
  switch (signInMode) {
    case 'token':
      return (
        <>
          <p>
            {token.value === ''
              ? 'This page shows internal data of the operator, so it needs a token.'
              : 'The token of this tab is no longer valid. The operator creates a new one at each start.'}
          </p>
          <p>Print the address with its token, then open it:</p>
          <Command>addon-operator ui</Command>
          <TokenForm label="Or paste the address or the token here" verb="Open" />
        </>
      );
    case 'kubernetes':
      return (
        <>
          <p>
            {linkStatus.value === 403
              ? 'When you have the rule, load this page again. Or sign in as another user.'
              : 'What you see and may do here is decided by your rules in the cluster.'}{' '}
            A service account has a token:
          </p>
          <Command>kubectl create token NAME -n NAMESPACE --duration 8h</Command>
          <TokenForm label="Token" verb="Sign in" />
          <p class="dim">The token stays in this tab, until it is closed.</p>
        </>
      );
    case 'proxy':
      return (
        <p>
          <button type="button" onClick={() => globalThis.location.reload()}>
            {linkStatus.value === 403 ? 'Try again' : 'Sign in'}
          </button>
        </p>
      );
  }
}

function Command({ children }: { children: string }): VNode {
  return (
    <pre class="output">
      <code>{children}</code>
    </pre>
  );
}

function TokenForm({ label, verb }: { label: string; verb: string }): VNode {
  const [text, setText] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        giveToken(text);
        setText('');
      }}
    >
      <label htmlFor="token">{label}</label>
      <div class="row">
        <input
          id="token"
          type="password"
          autocomplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit">{verb}</button>
      </div>
    </form>
  );
}
