import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * A modal dialog that opens at each request, with the content of its first field selected, and that the browser closes.
 * Whether it is open is known by the element alone, since its event `close` comes later than the next key.
 *
 * @param requests how often it was requested; 0: not yet
 */
export function useDialog(requests: number): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key, which belongs to the dialog.
  useLayoutEffect(() => {
    if (requests === 0) return;
    if (dialog.current?.open === false) dialog.current.showModal();
    dialog.current?.querySelector('input')?.select();
  }, [requests]);
  return dialog;
}
