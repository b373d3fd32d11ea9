import GRDB

/// The indexes by length, size and loudness get their entries in no order while takes are added in the order of their
/// days. With many takes, each transaction would write most of their pages again. An index that is made afterwards is
/// written once.
///
/// Without them, a list in one of these orders is sorted for each page, and nothing else changes.
extension Catalog {
    /// Removes these indexes if the catalog has no takes.
    public func beginFilling() throws {
        try write { database in
            guard try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM take)") == false else { return }
            for order in CatalogSchema.scatteredOrders {
                try database.execute(sql: "DROP INDEX IF EXISTS \(CatalogSchema.indexName(by: order))")
            }
        }
    }

    /// Makes those that are missing, also after a run that was interrupted. Others can write between the two.
    public func endFilling() throws {
        let indexes = try read { database in
            try String.fetchSet(database, sql: "SELECT name FROM sqlite_master WHERE type = 'index'")
        }
        for order in CatalogSchema.scatteredOrders where !indexes.contains(CatalogSchema.indexName(by: order)) {
            try write { try CatalogSchema.indexTakes(by: order, $0) }
        }
    }
}
