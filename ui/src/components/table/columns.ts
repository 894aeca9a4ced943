/** What a table's column is; its cells are slots of the same name. */
export interface Column<Row> {
  id: string;
  label: string;
  /** What rows are sorted by; absent: not sortable. */
  sort?: (row: Row) => string | number | null;
  /** Figures stand on the right. */
  numeric?: boolean;
  /** Given up in a narrow window. */
  wideOnly?: boolean;
  /** May be hidden by choice. */
  optional?: boolean;
}
