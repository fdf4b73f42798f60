/** No such row of a table: what a search answers, and where a chain ends. */
export const none = -1;
