import FoundationEssentials

/// SciPy's answers, `Resources/filters.json`.
struct ReferenceCases: Decodable {
    struct Case: Decodable {
        var btype: String
        var order: Int
        var cutoffHz: Double
        var rateHz: Int
        var gainDB: [[Double]]
        var output: [Double]

        enum CodingKeys: String, CodingKey {
            case btype, order, output
            case cutoffHz = "cutoff_hz"
            case rateHz = "rate_hz"
            case gainDB = "gain_db"
        }
    }

    var input: [Double]
    var cases: [Case]

    static func load() throws -> ReferenceCases {
        let folder = String(#filePath).split(separator: "/").dropLast().joined(separator: "/")
        let data = try Data(contentsOf: URL(filePath: "/\(folder)/Resources/filters.json"))
        return try JSONDecoder().decode(ReferenceCases.self, from: data)
    }
}
