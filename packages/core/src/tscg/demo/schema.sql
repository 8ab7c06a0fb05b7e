-- The world of the demo server: one small company with a tracker, calendars, a file store and a shop.
-- Money is in cents, times are UTC in ISO 8601, dates are YYYY-MM-DD.

CREATE TABLE people (
  handle TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, team TEXT NOT NULL
);
CREATE TABLE issues (
  key TEXT PRIMARY KEY, project TEXT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT 'open', resolution TEXT, priority TEXT NOT NULL DEFAULT 'medium',
  assignee TEXT REFERENCES people(handle), reporter TEXT NOT NULL REFERENCES people(handle),
  due_on TEXT, estimate_hours REAL, duplicate_of TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
CREATE TABLE issue_labels (
  issue_key TEXT NOT NULL REFERENCES issues(key), label TEXT NOT NULL, PRIMARY KEY (issue_key, label)
);
CREATE TABLE issue_links (
  source TEXT NOT NULL REFERENCES issues(key), relation TEXT NOT NULL, target TEXT NOT NULL REFERENCES issues(key),
  PRIMARY KEY (source, relation, target)
);
CREATE TABLE comments (
  id INTEGER PRIMARY KEY, issue_key TEXT NOT NULL REFERENCES issues(key), author TEXT NOT NULL, body TEXT NOT NULL,
  visibility TEXT NOT NULL DEFAULT 'internal', created_at TEXT NOT NULL
);
CREATE TABLE calendars (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, owner TEXT NOT NULL REFERENCES people(handle), writable INTEGER NOT NULL
);
CREATE TABLE events (
  id TEXT PRIMARY KEY, calendar_id TEXT NOT NULL REFERENCES calendars(id), title TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '', starts_at TEXT NOT NULL, ends_at TEXT NOT NULL, location TEXT,
  status TEXT NOT NULL DEFAULT 'confirmed', visibility TEXT NOT NULL DEFAULT 'default', recurrence TEXT, reminders TEXT
);
CREATE TABLE attendees (
  event_id TEXT NOT NULL REFERENCES events(id), email TEXT NOT NULL, role TEXT NOT NULL DEFAULT 'required',
  response TEXT NOT NULL DEFAULT 'needs_action', PRIMARY KEY (event_id, email)
);
CREATE TABLE files (
  path TEXT PRIMARY KEY, mime_type TEXT NOT NULL, content TEXT NOT NULL, owner TEXT NOT NULL REFERENCES people(handle),
  version INTEGER NOT NULL DEFAULT 1, updated_at TEXT NOT NULL, trashed_at TEXT
);
CREATE TABLE file_versions (
  path TEXT NOT NULL, version INTEGER NOT NULL, content TEXT NOT NULL, saved_at TEXT NOT NULL,
  PRIMARY KEY (path, version)
);
CREATE TABLE shares (
  path TEXT NOT NULL REFERENCES files(path) ON UPDATE CASCADE ON DELETE CASCADE, email TEXT NOT NULL,
  role TEXT NOT NULL, expires_on TEXT, PRIMARY KEY (path, email)
);
CREATE TABLE customers (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, tier TEXT NOT NULL
);
CREATE TABLE products (
  sku TEXT PRIMARY KEY, name TEXT NOT NULL, unit_cents INTEGER NOT NULL, stock INTEGER NOT NULL
);
CREATE TABLE orders (
  id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers(id), status TEXT NOT NULL,
  placed_at TEXT NOT NULL, recipient TEXT NOT NULL, street TEXT NOT NULL, postal_code TEXT NOT NULL,
  city TEXT NOT NULL, country TEXT NOT NULL, carrier TEXT, tracking_number TEXT, note TEXT
);
CREATE TABLE order_lines (
  order_id TEXT NOT NULL REFERENCES orders(id), sku TEXT NOT NULL REFERENCES products(sku),
  quantity INTEGER NOT NULL, unit_cents INTEGER NOT NULL, PRIMARY KEY (order_id, sku)
);
CREATE TABLE order_events (
  id INTEGER PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders(id), kind TEXT NOT NULL, detail TEXT NOT NULL,
  actor TEXT NOT NULL, at TEXT NOT NULL
);
CREATE TABLE refunds (
  id TEXT PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders(id), cents INTEGER NOT NULL, reason TEXT NOT NULL,
  method TEXT NOT NULL, at TEXT NOT NULL
);
