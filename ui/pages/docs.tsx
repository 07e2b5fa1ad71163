/** A page of the documentation of this version, as it is written. The search leads here. */

import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { pathTo } from '../lib/places.ts';
import type { DocsResponse } from '../lib/responses.ts';
import { location } from '../lib/site.ts';
import { useResponse } from '../lib/use-response.ts';
import { Shown } from '../parts/response.tsx';
import { Empty, Title } from '../parts/text.tsx';

/** The page that the address names, at its heading. */
export function DocsPage(): VNode {
  const { query } = location.value;
  const page = query.get('page') ?? '';
  const heading = query.get('heading') ?? '';
  const responded = useResponse<DocsResponse>(page === '' ? undefined : pathTo(['docs'], { page }));
  useEffect(() => {
    document.getElementById('section')?.scrollIntoView();
  }, [responded.data, heading]);
  if (page === '')
    return (
      <>
        <Title>Documentation</Title>
        <Empty>Press / and search for words to find a section of the documentation.</Empty>
      </>
    );
  return (
    <>
      <Title note="From the documentation of this version.">docs/{page}</Title>
      <Shown responded={responded}>
        {({ sections }) => {
          const chosen = sections.findIndex((section) => section.heading === heading);
          return (
            <>
              {sections.map((section, index) => (
                // oxlint-disable-next-line react/no-array-index-key -- headings may repeat, and the list never changes
                <section key={index} id={index === chosen ? 'section' : undefined} class="card">
                  <h2>{section.heading}</h2>
                  <pre class="markdown">{section.text}</pre>
                </section>
              ))}
            </>
          );
        }}
      </Shown>
    </>
  );
}
