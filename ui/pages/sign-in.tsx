/** The page for a visitor without a valid token: how to get an address, and a field to paste it into. */

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { linkProblem } from '../lib/live.ts';
import { giveToken, token } from '../lib/site.ts';

/** Instructions for a visitor without a valid token. */
export function NoTokenPage(): VNode {
  const [text, setText] = useState('');
  const isRefused = token.value !== '';
  return (
    <main class="gate" id="main">
      <h1 tabIndex={-1}>
        {isRefused ? 'This address is no longer valid' : 'An address with a token is needed'}
      </h1>
      <p>
        {isRefused
          ? 'The token of this tab is no longer valid. The operator creates a new one at each start.'
          : 'This page shows internal data of the operator, so it needs a token.'}
      </p>
      {isRefused && !linkProblem.value.startsWith('401') && linkProblem.value !== '' && (
        <p class="error">{linkProblem.value}</p>
      )}
      <p>Print the address with its token, then open it:</p>
      <pre class="output">
        <code>addon-operator ui</code>
      </pre>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          giveToken(text);
        }}
      >
        <label htmlFor="token">Or paste the address or the token here</label>
        <div class="row">
          <input
            id="token"
            type="password"
            autocomplete="off"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit">Open</button>
        </div>
      </form>
    </main>
  );
}
