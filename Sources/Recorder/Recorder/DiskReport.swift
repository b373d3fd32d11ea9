import FoundationEssentials

/// What smartctl(8) prints of a disk, as JSON: the part that a history keeps.
struct DiskReport: Equatable {
    /// How much of its life the disk has used, in percent; it may be more than 100. nil: it does not say.
    var usedPercent: Int?
    /// Whether the disk judges itself to be good; nil: it does not say.
    var isHealthy: Bool?

    /// nil: it is no such report, or says neither.
    init?(json: String) {
        guard let report = try? JSONDecoder().decode(Report.self, from: Data(json.utf8)) else { return nil }
        let statistics = report.statistics?.pages.flatMap { $0.table ?? [] }
        let used =
            report.endurance?.percent ?? report.nvme?.percent
            ?? statistics?.first { $0.name == "Percentage Used Endurance Indicator" }?.value
        // One byte in both standards (NVM Express, ATA ACS-3): what is greater is damaged.
        usedPercent = used.flatMap { (0...255).contains($0) ? $0 : nil }
        isHealthy = report.status?.passed
        if usedPercent == nil && isHealthy == nil { return nil }
    }

    private struct Report: Decodable {
        var status: Status?
        /// Since smartmontools 7.4.
        var endurance: Endurance?
        var nvme: NVMe?
        var statistics: Statistics?

        enum CodingKeys: String, CodingKey {
            case status = "smart_status"
            case endurance = "endurance_used"
            case nvme = "nvme_smart_health_information_log"
            case statistics = "ata_device_statistics"
        }
    }

    private struct Status: Decodable { var passed: Bool? }

    private struct Endurance: Decodable {
        var percent: Int?
        enum CodingKeys: String, CodingKey { case percent = "current_percent" }
    }

    private struct NVMe: Decodable {
        var percent: Int?
        enum CodingKeys: String, CodingKey { case percent = "percentage_used" }
    }

    private struct Statistics: Decodable {
        struct Page: Decodable { var table: [Entry]? }
        struct Entry: Decodable { var name: String?; var value: Int? }
        var pages: [Page]
    }
}
