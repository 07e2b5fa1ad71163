/** The header of a request on the debug socket that names the program that sends it. */
export const CLIENT_HEADER = 'X-Requested-With';
/** Programs whose actions are recorded under their own name; all others are the debug socket. */
export const ACTION_CLIENTS = ['mcp'] as const;
export type ActionClient = (typeof ACTION_CLIENTS)[number];
